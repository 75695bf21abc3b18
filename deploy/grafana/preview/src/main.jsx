// One dashboard, drawn once: `window.preview` holds it, Prometheus' answers and the range.
import { ThemeContext } from '@grafana/data';
import { GlobalStyles, PanelChrome } from '@grafana/ui';
import { createRoot } from 'react-dom/client';
import { framesOf, theme } from './frames';
import { KINDS } from './panels';

const { dashboard, results, range, choices } = window.preview;
const WIDTH = 1600;
const CELL = 30;
const GAP = 8;
const place = ({ x, y, w, h }) => ({
  left: (x * (WIDTH + GAP)) / 24,
  top: y * (CELL + GAP),
  width: (w * (WIDTH + GAP)) / 24 - GAP,
  height: h * (CELL + GAP) - GAP,
});
const filled = (text) => text.replace(/\$\{?(\w+)\}?/g, (all, name) => choices[name] ?? all);

function Drawn({ panel, frames }) {
  const { width, height, ...at } = place(panel.gridPos);
  const Kind = KINDS[panel.type];
  const empty = !frames.some((frame) => frame.length);
  return (
    <div style={{ position: 'absolute', width, height, ...at }}>
      <PanelChrome width={width} height={height} title={filled(panel.title)} description={panel.description}>
        {(innerWidth, innerHeight) =>
          empty ? <Nothing /> : <Kind panel={panel} frames={frames} width={innerWidth} height={innerHeight} range={range} />
        }
      </PanelChrome>
    </div>
  );
}

function Nothing() {
  return <div style={{ padding: 24, textAlign: 'center', color: theme.colors.text.secondary }}>No data</div>;
}

function Heading({ panel }) {
  const { width, height, ...at } = place(panel.gridPos);
  return <div style={{ position: 'absolute', ...at, width, ...theme.typography.h5, paddingTop: 6 }}>{panel.title}</div>;
}

function Head() {
  const shown = Object.entries(choices).filter(([name]) => name !== 'datasource');
  return (
    <div style={{ height: 64 }}>
      <div style={theme.typography.h3}>{dashboard.title}</div>
      <div style={{ color: theme.colors.text.secondary }}>
        {dashboard.description} · {shown.map(([name, value]) => `${name}: ${value === '.*' ? 'All' : value}`).join(' · ')}
      </div>
    </div>
  );
}

async function draw() {
  const panels = dashboard.panels.filter((panel) => panel.targets?.length);
  const frames = await Promise.all(panels.map((panel) => framesOf(panel, results[panel.id])));
  const rows = dashboard.panels.filter((panel) => panel.type === 'row');
  const page = (
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <div style={{ width: WIDTH, padding: 16, background: theme.colors.background.canvas, minHeight: '100vh' }}>
        <Head />
        <div style={{ position: 'relative' }}>
          {rows.map((panel) => <Heading key={panel.id} panel={panel} />)}
          {panels.map((panel, index) => <Drawn key={panel.id} panel={panel} frames={frames[index]} />)}
        </div>
      </div>
    </ThemeContext.Provider>
  );
  createRoot(document.getElementById('page')).render(page);
}

draw().catch((error) => {
  console.error(`cannot draw: ${error.stack}`);
});
