// From Prometheus' answers to Grafana's data frames, with the panel's transformations and field options.
import {
  applyFieldOverrides,
  createTheme,
  FieldConfigOptionsRegistry,
  FieldType,
  identityOverrideProcessor,
  standardTransformers,
  standardTransformersRegistry,
  transformDataFrame,
} from '@grafana/data';
import { lastValueFrom } from 'rxjs';

export const theme = createTheme({ colors: { mode: 'light' } });

const USED = ['merge', 'organize'];
standardTransformersRegistry.setInit(() =>
  USED.map((id) => Object.values(standardTransformers).find((one) => one.id === id)).map((transformation) => ({
    id: transformation.id,
    name: transformation.name,
    transformation: () => Promise.resolve(transformation),
  }))
);

const STANDARD = ['unit', 'decimals', 'displayName', 'color', 'thresholds', 'mappings', 'min', 'max', 'noValue'];
const CUSTOM = [
  'thresholdsStyle', 'showPoints', 'axisSoftMax', 'lineWidth', 'fillOpacity', 'fillBelowTo', 'drawStyle', 'lineStyle', 'axisPlacement', 'axisLabel', 'hideFrom',
  'cellOptions', 'width', 'minWidth',
];
const option = (id, path, isCustom) => ({
  id,
  path,
  name: id,
  isCustom,
  process: identityOverrideProcessor,
  shouldApply: () => true,
});
const registry = new FieldConfigOptionsRegistry(() => [
  ...STANDARD.map((name) => option(name, name, false)),
  ...CUSTOM.map((name) => option(`custom.${name}`, name, true)),
]);

const field = (name, type, values, labels, config = {}) => ({ name, type, values, labels, config });
const legendOf = (format, labels) => format.replace(/{{\s*(\w+)\s*}}/g, (_, name) => labels[name] ?? '');

function seriesFrames(target, result) {
  return result.map(({ metric, values, value }) => {
    const points = values ?? [value];
    const name = legendOf(target.legendFormat, metric);
    return {
      refId: target.refId,
      length: points.length,
      fields: [
        field('Time', FieldType.time, points.map(([seconds]) => seconds * 1000)),
        field('Value', FieldType.number, points.map(([, text]) => Number(text)), metric, { displayNameFromDS: name }),
      ],
    };
  });
}

function tableFrame(target, result, single) {
  const labels = Object.keys(result[0]?.metric ?? {});
  return {
    refId: target.refId,
    length: result.length,
    fields: [
      field('Time', FieldType.time, result.map(({ value }) => value[0] * 1000)),
      ...labels.map((label) => field(label, FieldType.string, result.map(({ metric }) => metric[label] ?? ''))),
      field(single ? 'Value' : `Value #${target.refId}`, FieldType.number, result.map(({ value }) => Number(value[1]))),
    ],
  };
}

function unlimited(config) {
  const steps = config?.thresholds?.steps?.map((step) => ({ ...step, value: step.value ?? -Infinity }));
  return steps ? { ...config, thresholds: { ...config.thresholds, steps } } : config;
}

function sourceOf(panel) {
  const overrides = panel.fieldConfig.overrides.map((override) => ({
    ...override,
    properties: override.properties.map((property) =>
      property.id === 'thresholds' ? { id: property.id, ...{ value: unlimited({ thresholds: property.value }).thresholds } } : property
    ),
  }));
  return { defaults: unlimited(panel.fieldConfig.defaults), overrides };
}

export async function framesOf(panel, results) {
  const single = panel.targets.length === 1;
  const frames = panel.targets.flatMap((target, place) =>
    target.format === 'table'
      ? [tableFrame(target, results[place], single)].filter((frame) => frame.length)
      : seriesFrames(target, results[place])
  );
  const changed = await lastValueFrom(transformDataFrame(panel.transformations ?? [], frames));
  return applyFieldOverrides({
    data: changed,
    fieldConfig: sourceOf(panel),
    fieldConfigRegistry: registry,
    replaceVariables: (text) => text,
    theme,
    timeZone: 'utc',
  });
}
