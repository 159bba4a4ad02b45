/** What an account has, each thing by what it is called by. */
export type Books = Map<string, Record<string, string>>;

interface Tool {
  slug: string;
  name: string;
  description: string;
  tags: string[];
  input_parameters: object;
  run: (args: Record<string, string>, books: Books) => object | { error: string; data?: object };
}

/** An app, as Composio calls it. */
export interface Toolkit {
  slug: string;
  name: string;
  /** `knowledge` is ours: by which tools what it holds is read. */
  meta: { description: string; logo: string | null; knowledge?: { list_tool: string; read_tool: string } };
  tools: Tool[];
  /** What each account begins with. */
  books: () => Books;
}

const READS = ['readOnlyHint'];
const DESTROYS = ['destructiveHint'];

const words = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
});

const none = (what: string, id: string) => ({ error: `There is no ${what} ${id}.`, data: { is_gone: true } });
const ROOT = 'drive://demo';

const CRM: Toolkit = {
  slug: 'demo-crm',
  name: 'Demo CRM',
  meta: { description: 'Contacts to try managed apps with.', logo: null },
  books: () => new Map([['1', { id: '1', name: 'Ada Lovelace', email: 'ada@example.com' }], ['2', { id: '2', name: 'Alan Turing', email: 'alan@example.com' }]]), // prettier-ignore
  tools: [
    {
      slug: 'DEMO_CRM_LIST_CONTACTS',
      name: 'List contacts',
      description: 'Lists all contacts.',
      tags: READS,
      input_parameters: words(),
      run: (_args, books) => ({ contacts: [...books.values()] }),
    },
    {
      slug: 'DEMO_CRM_GET_CONTACT',
      name: 'Get contact',
      description: 'Shows a contact.',
      tags: READS,
      input_parameters: words('id'),
      run: ({ id }, books) => books.get(id) ?? none('contact', id),
    },
    {
      slug: 'DEMO_CRM_CREATE_CONTACT',
      name: 'Create contact',
      description: 'Adds a contact, also the second time under one key.',
      tags: [],
      input_parameters: words('name', 'email'),
      run: ({ name, email }, books) => {
        const id = String(Math.max(0, ...[...books.keys()].map(Number)) + 1);
        books.set(id, { id, name, email });
        return { id };
      },
    },
    {
      slug: 'DEMO_CRM_DELETE_CONTACT',
      name: 'Delete contact',
      description: 'Deletes a contact for good.',
      tags: DESTROYS,
      input_parameters: words('id'),
      run: ({ id }, books) => (books.delete(id) ? { deleted: id } : none('contact', id)),
    },
  ],
};

const DRIVE: Toolkit = {
  slug: 'demo-drive',
  name: 'Demo Drive',
  meta: {
    description: 'Files to try managed apps with, which knowledge can be made of.',
    logo: null,
    knowledge: { list_tool: 'DEMO_DRIVE_LIST_FILES', read_tool: 'DEMO_DRIVE_READ_FILE' },
  },
  books: () =>
    new Map(
      [
        { name: 'handbook.md', text: '# Handbook\n\nThe office opens at nine. The key is with the porter.' },
        { name: 'menu.md', text: '# Menu\n\nOn Fridays there is fish.' },
      ].map((file) => [`${ROOT}/${file.name}`, file]),
    ),
  tools: [
    {
      slug: 'DEMO_DRIVE_LIST_FILES',
      name: 'List files',
      description: 'Lists all files.',
      tags: READS,
      input_parameters: words(),
      run: (_args, books) => ({
        items: [...books].map(([uri, { name }]) => ({ uri, name, mime_type: 'text/markdown', modified_at: null })),
        next_cursor: null,
      }),
    },
    {
      slug: 'DEMO_DRIVE_READ_FILE',
      name: 'Read file',
      description: 'Reads a file.',
      tags: READS,
      input_parameters: words('uri'),
      run: ({ uri }, books) => {
        const file = books.get(uri);
        return file ? { uri, mime_type: 'text/markdown', text: file.text } : none('file', uri);
      },
    },
    {
      slug: 'DEMO_DRIVE_WRITE_FILE',
      name: 'Write file',
      description: 'Writes a file, in place of one of the same name.',
      tags: ['idempotentHint'],
      input_parameters: words('name', 'text'),
      run: ({ name, text }, books) => {
        books.set(`${ROOT}/${encodeURIComponent(name)}`, { name, text });
        return { uri: `${ROOT}/${encodeURIComponent(name)}` };
      },
    },
    {
      slug: 'DEMO_DRIVE_DELETE_FILE',
      name: 'Delete file',
      description: 'Deletes a file for good.',
      tags: DESTROYS,
      input_parameters: words('uri'),
      run: ({ uri }, books) => (books.delete(uri) ? { deleted: uri } : none('file', uri)),
    },
  ],
};

export const TOOLKITS: readonly Toolkit[] = [CRM, DRIVE];
