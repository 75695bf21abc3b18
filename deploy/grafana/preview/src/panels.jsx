// The five kinds of panels, each by Grafana's own component.
import { getDisplayValueAlignmentFactors, getFieldDisplayValues, dateTime } from '@grafana/data';
import { BarGauge, BigValue, Table, TimeSeries, VizRepeater } from '@grafana/ui';
import { theme } from './frames';

function display(panel, frames) {
  return getFieldDisplayValues({
    data: frames,
    fieldConfig: panel.fieldConfig,
    reduceOptions: panel.options.reduceOptions,
    replaceVariables: (text) => text,
    theme,
    timeZone: 'utc',
    sparkline: false,
  });
}

function Tiles({ panel, frames, width, height }) {
  const options = panel.options;
  const one = ({ value, width, height, alignmentFactors }) => (
    <BigValue
      value={value.display}
      width={width}
      height={height}
      theme={theme}
      colorMode={options.colorMode}
      graphMode={options.graphMode}
      justifyMode={options.justifyMode}
      textMode={options.textMode}
      text={options.text}
      alignmentFactors={alignmentFactors}
    />
  );
  return repeated(panel, frames, width, height, one);
}

function Bars({ panel, frames, width, height }) {
  const options = panel.options;
  const one = ({ value, width, height, orientation, alignmentFactors }) => (
    <BarGauge
      value={value.display}
      field={value.field}
      display={value.view?.getFieldDisplayProcessor(value.colIndex)}
      width={width}
      height={height}
      theme={theme}
      orientation={orientation}
      displayMode={options.displayMode}
      showUnfilled={options.showUnfilled}
      valueDisplayMode={options.valueMode}
      itemSpacing={8}
      text={options.text}
      alignmentFactors={alignmentFactors}
    />
  );
  return repeated(panel, frames, width, height, one);
}

function repeated(panel, frames, width, height, renderValue) {
  return (
    <VizRepeater
      getValues={() => display(panel, frames)}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      renderValue={renderValue}
      source={frames}
      width={width}
      height={height}
      itemSpacing={6}
      renderCounter={0}
      orientation={panel.options.orientation}
      minVizHeight={panel.options.minVizHeight ?? 16}
      maxVizHeight={panel.options.maxVizHeight ?? 300}
    />
  );
}

function Trend({ panel, frames, width, height, range }) {
  const from = dateTime(range.start * 1000);
  const to = dateTime(range.end * 1000);
  return (
    <TimeSeries
      frames={frames}
      width={width}
      height={height}
      timeRange={{ from, to, raw: { from, to } }}
      timeZone="utc"
      legend={panel.options.legend}
      options={panel.options}
    />
  );
}

function Cells({ frames, width, height }) {
  return <Table data={frames[0]} width={width} height={height} cellHeight="sm" />;
}

export const KINDS = { stat: Tiles, bargauge: Bars, timeseries: Trend, table: Cells };
