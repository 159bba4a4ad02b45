import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl';
import { ExtractionError } from './extraction-error';

const MIB = 1024 * 1024;
const MAX_ENTRIES = 10_000;
const MAX_UNPACKED = 200 * MIB;
/** Of unpacked to packed, beyond the first MiB. */
const MAX_RATIO = 100;

const bomb = (message: string) => new ExtractionError('bomb', message);
const isBeyond = (unpacked: number, packed: number): boolean => unpacked - MIB > packed * MAX_RATIO;

/** The files of an archive by their paths. What an archive says of their sizes is checked at once, and they are held to it when they are read. */
export class Archive {
  private constructor(
    private readonly zip: ZipFile,
    private readonly entries: Map<string, Entry>,
  ) {}

  /** @throws ExtractionError `bomb`, `encrypted`, `extract_failed` */
  static async open(bytes: Buffer): Promise<Archive> {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true, validateEntrySizes: true, autoClose: false });
    if (zip.entryCount > MAX_ENTRIES) throw bomb(`It has more than ${MAX_ENTRIES} entries`);
    const entries = new Map<string, Entry>();
    let unpacked = 0;
    let count = 0;
    for await (const entry of zip.eachEntry()) {
      unpacked += entry.uncompressedSize;
      if (++count > MAX_ENTRIES) throw bomb(`It has more than ${MAX_ENTRIES} entries`);
      if (unpacked > MAX_UNPACKED) throw bomb(`Unpacked it has more than ${MAX_UNPACKED} bytes`);
      if (isBeyond(entry.uncompressedSize, entry.compressedSize) || isBeyond(unpacked, bytes.length))
        throw bomb(`Unpacked it has more than ${MAX_RATIO} times its bytes`);
      if (entry.isEncrypted()) throw new ExtractionError('encrypted', 'It is encrypted with a password');
      entries.set(entry.fileName.toLowerCase(), entry);
    }
    return new Archive(zip, entries);
  }

  has(path: string): boolean {
    return this.entries.has(path.toLowerCase());
  }

  /** @returns nothing where there is no such file */
  async *read(path: string): AsyncGenerator<Buffer> {
    const entry = this.entries.get(path.toLowerCase());
    if (entry) yield* (await this.zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>;
  }
}
