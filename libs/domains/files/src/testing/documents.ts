import { crc32, deflateRawSync } from 'node:zlib';

interface ZipOptions {
  /** What it says that each has unpacked, where that is not so. */
  claimed?: number;
  encrypted?: boolean;
  /** Bytes of the first, which all others say that they have, too. */
  overlapping?: boolean;
}

/** A ZIP archive of these files. */
export function zip(files: Record<string, string | Buffer>, { claimed, encrypted, overlapping }: ZipOptions = {}): Buffer {
  const [local, central]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  let first: { packed: Buffer; crc: number; length: number } | undefined;
  for (const [path, content] of Object.entries(files)) {
    const bytes = Buffer.from(content as string);
    const made = (overlapping && first) || { packed: deflateRawSync(bytes), crc: crc32(bytes), length: bytes.length };
    first ??= made;
    const name = Buffer.from(path);
    const header = Buffer.alloc(26);
    header.writeUInt16LE(20, 0);
    header.writeUInt16LE(encrypted ? 1 : 0, 2);
    header.writeUInt16LE(8, 4);
    header.writeUInt32LE(made.crc, 10);
    header.writeUInt32LE(made.packed.length, 14);
    header.writeUInt32LE(claimed ?? made.length, 18);
    header.writeUInt16LE(name.length, 22);
    const end = Buffer.alloc(14);
    end.writeUInt32LE(offset, 10);
    central.push(Buffer.from('PK\x01\x02\x14\0', 'latin1'), header, end, name);
    const entry = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), header, name, made.packed]);
    if (overlapping && local.length) continue;
    local.push(entry);
    offset += entry.length;
    if (overlapping) offset = 0;
  }
  const [start, size] = [local.reduce((sum, { length }) => sum + length, 0), central.reduce((sum, { length }) => sum + length, 0)];
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(files).length, 4);
  end.writeUInt16LE(Object.keys(files).length, 6);
  end.writeUInt32LE(size, 8);
  end.writeUInt32LE(start, 12);
  return Buffer.concat([...local, ...central, Buffer.from('PK\x05\x06', 'latin1'), end]);
}

const relations = (targets: Record<string, [type: string, target: string]>): string =>
  `<Relationships>${Object.entries(targets)
    .map(([id, [type, target]]) => `<Relationship Id="${id}" Type="http://x/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;
const TITLE = '<cp:coreProperties><dc:title>The title</dc:title></cp:coreProperties>';

/** @param body XML within `w:body` */
export const docx = (body: string, others: Record<string, string | Buffer> = {}, options?: ZipOptions): Buffer =>
  zip(
    {
      'word/document.xml': `<?xml version="1.0"?><w:document><w:body>${body}</w:body></w:document>`,
      'docProps/core.xml': TITLE,
      ...others,
    },
    options,
  );

export const paragraph = (text: string, properties = ''): string => `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;

/** @param slides XML of shapes of each, and of its notes */
export const pptx = (slides: { shapes: string; notes?: string }[]): Buffer =>
  zip({
    'ppt/presentation.xml': `<p:presentation><p:sldIdLst>${slides.map((_, i) => `<p:sldId id="${256 + i}" r:id="r${i}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(Object.fromEntries(slides.map((_, i) => [`r${i}`, ['slide', `slides/slide${i}.xml`]]))),
    ...Object.fromEntries(
      slides.flatMap(({ shapes, notes }, i) => [
        [`ppt/slides/slide${i}.xml`, `<p:sld>${shapes}</p:sld>`],
        ...(notes
          ? [
              [`ppt/slides/_rels/slide${i}.xml.rels`, relations({ n: ['notesSlide', `../notesSlides/notes${i}.xml`] })],
              [`ppt/notesSlides/notes${i}.xml`, `<p:notes>${notes}</p:notes>`],
            ]
          : []),
      ]),
    ),
  });

export const shape = (type: string | null, ...paragraphs: string[]): string =>
  `<p:sp>${type ? `<p:nvPr><p:ph type="${type}"/></p:nvPr>` : ''}<p:txBody>${paragraphs.map((text) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`).join('')}</p:txBody></p:sp>`;

/** @param sheets XML within `sheetData`, by name */
export const xlsx = (sheets: Record<string, string>, strings: string[] = [], others: Record<string, string> = {}): Buffer =>
  zip({
    'xl/workbook.xml': `<workbook><sheets>${Object.keys(sheets)
      .map((name, i) => `<sheet name="${name}" sheetId="${i}" r:id="r${i}"/>`)
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations(
      Object.fromEntries(Object.keys(sheets).map((_, i) => [`r${i}`, ['worksheet', `/xl/worksheets/sheet${i}.xml`]])),
    ),
    'xl/sharedStrings.xml': `<sst>${strings.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
    ...Object.fromEntries(
      Object.values(sheets).map((rows, i) => [`xl/worksheets/sheet${i}.xml`, `<worksheet><sheetData>${rows}</sheetData></worksheet>`]),
    ),
    ...others,
  });

/** @param pages lines of each; a page that is `null` has none */
export function pdf(pages: (string[] | null)[], trailer = ''): Buffer {
  const contents = pages.map((lines) => `BT /F1 12 Tf 14 TL 72 720 Td ${(lines ?? []).map((line) => `(${line}) Tj T*`).join(' ')} ET`);
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Count ${pages.length}/Kids[${pages.map((_, i) => `${5 + i * 2} 0 R`).join(' ')}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    '<</Title(The title)>>',
    ...contents.flatMap((content, i) => [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents ${6 + i * 2} 0 R>>`,
      `<</Length ${content.length}>>stream\n${content}\nendstream`,
    ]),
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, i) => {
    const at = text.length;
    text += `${i + 1} 0 obj${object}endobj\n`;
    return at;
  });
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const end = `trailer<</Size ${objects.length + 1}/Root 1 0 R/Info 4 0 R${trailer}>>\nstartxref\n${text.length}\n%%EOF`;
  return Buffer.from(`${text}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${end}`, 'latin1');
}
