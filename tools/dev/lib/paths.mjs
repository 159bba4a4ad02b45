/** Where things are. Every other module takes its paths from here. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The workspace root. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');

/** Where the build puts its output; it mirrors the source tree. */
export const dist = path.join(root, 'dist');

/** What build.mjs remembers of the last build; its time is that of the last change. */
export const buildManifest = path.join(dist, '.build.json');

/** The data folder of the development stack. */
export const dataDir = () => path.resolve(root, process.env.APS_DATA_DIR || '.data');

/** What bundle.mjs makes of the build's output: the apps as they are started. */
export const bundles = path.join(dist, 'bundles');

/** What V8 has made of them, see compiled-code.cjs. */
export const compiled = path.join(dist, 'compiled');

/** Programs that apps send to machines of others. */
export const sent = path.join(dist, 'sent');

/** The entry point of an app or of a tool in dist/bundles; the module that it was bundled from, which starts slower and is there without bundling. */
export const appMain = (name) => path.join(bundles, name, 'main.js');
export const appModule = (name) => path.join(dist, 'apps', name, 'src', 'main.js');
/** The built entry point of a tool. */
export const toolMain = (name) => path.join(dist, 'tools', name, 'main.js');
