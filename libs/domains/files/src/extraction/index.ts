// What a process that reads files is made of. It loads parsers: who asks such a process imports `@aps/files`.
export { extract } from './extract';
export type { Extracted, FileHints } from './extracted';
export { ExtractionError } from './extraction-error';
export { serveReader } from './serve-reader';
