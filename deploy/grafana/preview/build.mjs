// Bundles the page into one script that a browser reads from a file.
import { build } from 'esbuild';

// Grafana's .mjs files make esbuild import CommonJS packages as Node does, without their `default`; its .cjs do not.
const commonjs = {
  name: 'commonjs',
  setup: (build) =>
    build.onResolve({ filter: /^@grafana\/(data|ui)/ }, ({ path, resolveDir, pluginData }) =>
      pluginData ? undefined : build.resolve(path, { kind: 'require-call', resolveDir, pluginData: true })
    ),
};

await build({
  entryPoints: ['src/main.jsx'],
  outfile: 'dist/preview.js',
  bundle: true,
  minify: true,
  format: 'iife',
  jsx: 'automatic',
  plugins: [commonjs],
  define: { 'process.env.NODE_ENV': '"production"', global: 'window' },
  loader: { '.svg': 'dataurl', '.png': 'dataurl', '.ttf': 'empty' },
  logLevel: 'error',
});
