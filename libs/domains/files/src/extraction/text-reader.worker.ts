import { extract } from './extract';
import type { FileBytes } from './extracted';
import { serveReader } from './serve-reader';

// A process of its own: it reads one file after another.

serveReader(({ bytes, hints }: FileBytes) => extract(Buffer.from(bytes), hints));
