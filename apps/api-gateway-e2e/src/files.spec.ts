import { createHash } from 'node:crypto';
import { startPlatform, until, type Platform } from '../support';

/** Gateway and worker are two processes that share nothing but their servers and the storage. */
describe('a file', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ apps: ['api-gateway', 'admin-api', 'chat-worker'] });
  });
  afterAll(() => platform?.stop());

  it('goes in by the gateway, is read by the worker, and comes out again', async () => {
    const { org_id, agent_id, api_token } = platform.demo;
    const base = `${platform.url}/api/orgs/${org_id}`;
    const headers = { Authorization: `Bearer ${api_token}` };
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies of many shapes
    const json = async (path: string, init: RequestInit = {}): Promise<any> =>
      (await fetch(base + path, { ...init, headers: { ...headers, ...init.headers } })).json();

    const content = 'The parrot is in the third drawer.';
    const upload = (text: string, name: string) => {
      const form = new FormData();
      form.append('file', new Blob([text]), name);
      return json('/uploads', { method: 'POST', body: form });
    };
    const file = await upload(content, 'notes.md');
    expect(file).toMatchObject({
      filename: 'notes.md',
      media_type: 'text/markdown',
      sha256: createHash('sha256').update(content).digest('hex'),
    });

    const post = (path: string, body: unknown) =>
      json(path, { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } });
    const chat = `/agents/${agent_id}/chats/${(await post(`/agents/${agent_id}/chats`, { title: 'Files' })).id}`;
    // What is no plain text is read by a process that the worker starts.
    const page = await upload('<p>The key is in <b>the first</b>.', 'page.html');
    await post(`${chat}/messages`, { content: 'Where is it?', attachment_ids: [file.file_id, page.file_id] });
    const reply = await until(
      'the agent answers',
      async () => (await json(chat)).messages.find((m: { role: string }) => m.role === 'assistant')?.content as string | undefined,
    );
    expect(reply).toContain(content);
    expect(reply).toContain('The key is in **the first**.');
    expect(await (await fetch(`${base}/files/${file.file_id}`, { headers })).text()).toBe(content);
  });
});
