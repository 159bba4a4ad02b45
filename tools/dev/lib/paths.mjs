/** Where things are. Every other module takes its paths from here. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The workspace root. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');

/** Where the build puts its output; it mirrors the source tree. */
export const dist = path.join(root, 'dist');

/** The data folder of the development stack. */
export const dataDir = () => path.resolve(root, process.env.APS_DATA_DIR || '.data');

/** The built entry point of an app or tool. */
export const appMain = (name) => path.join(dist, 'apps', name, 'src', 'main.js');
export const toolMain = (name) => path.join(dist, 'tools', name, 'main.js');
