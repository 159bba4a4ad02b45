import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { BillingModule } from '@aps/billing';
import { InferenceModule } from '@aps/inference';
import { addModel, addRoute } from '@aps/inference/testing';
import { MaintenanceModule } from '@aps/platform/maintenance';
import { BASE_MODULES, TestService } from '@aps/testing';
import { startMockModel, type MockModel } from '../../../../../tools/mock-model/server';
import { PromptsHttpModule } from '../http';
import { PromptsMaintenanceModule } from '../prompts.module';

/** A frame of an answer. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- specs look into frames of many shapes
export type Frame = [event: string, data: any];

const MODULES = [...BASE_MODULES, BillingModule, InferenceModule, MaintenanceModule, PromptsHttpModule, PromptsMaintenanceModule];

/** Prompt templates behind HTTP, with a model server that speaks the providers' wire formats; each of its models has the name of its dialect. */
class PromptsTestService extends TestService {
  private model: MockModel;
  private readonly site = http.createServer((request, response) => {
    const page = this.pages[request.url!] ?? { status: 404 };
    this.waiting += 1;
    response.once('close', () => (this.waiting -= 1));
    if (page !== 'silence') response.writeHead(page.status ?? 200, page.headers).end(page.body);
  });
  /** What stands at {@link siteUrl}, by path. */
  readonly pages: Record<string, 'silence' | { status?: number; headers?: Record<string, string>; body?: string | Buffer }> = {};
  /** How many wait for an answer of it. */
  waiting = 0;

  constructor() {
    super(MODULES);
  }

  /** An address that prompts may read. */
  get siteUrl(): string {
    return `http://127.0.0.1:${(this.site.address() as AddressInfo).port}`;
  }

  protected override async prepare(): Promise<void> {
    await new Promise<void>((listening) => this.site.listen(0, '127.0.0.1', listening));
    this.configure({ EGRESS_ALLOW: new URL(this.siteUrl).host });
  }

  override async start(): Promise<this> {
    this.model = await startMockModel();
    await super.start();
    const route_id = await addRoute(this, 'mock', { base_url: `${this.model.url}/v1` });
    await addModel(this, 'mock', { route_id, provider: 'mock', input_price_per_1m: '1', output_price_per_1m: '2' });
    await addModel(this, 'vision', {
      route_id,
      provider: 'mock',
      remote_model_id: 'mock-vision',
      supports_vision: true,
      input_price_per_1m: '1',
      output_price_per_1m: '2',
    });
    await addModel(this, 'unpriced', { route_id, provider: 'mock' });
    for (const [dialect, version] of [
      ['dialect_2', 'v1'],
      ['dialect_3', 'v1beta'],
    ] as const) {
      const of = await addRoute(this, dialect.replace('_', '-'), { dialect, base_url: `${this.model.url}/${version}` });
      await addModel(this, dialect, { provider: 'mock', remote_model_id: 'claude-opus-4-6', route_id: of });
    }
    return this;
  }

  override async close(): Promise<void> {
    await super.close();
    await this.model?.close();
    this.site.close();
    this.site.closeAllConnections();
  }

  /** Tests a template and reads the answer to its end, or until `until` says so, and then goes. */
  async frames(path: string, token: string, body: object, until: (frame: Frame) => boolean = () => false): Promise<Frame[]> {
    const leave = new AbortController();
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const response = await fetch(`${this.url}${path}/test`, { method: 'POST', headers, body: JSON.stringify(body), signal: leave.signal });
    if (response.status !== 200) throw new Error(`${path} answered ${response.status} ${await response.text()}`);
    const frames: Frame[] = [];
    let rest = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + piece).split('\n\n');
      rest = parts.pop()!;
      for (const part of parts.filter((text) => !text.startsWith(':'))) {
        const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(part)!;
        const frame: Frame = [event, JSON.parse(data)];
        frames.push(frame);
        if (until(frame)) {
          leave.abort();
          return frames;
        }
      }
    }
    return frames;
  }
}

export function promptsService(): PromptsTestService {
  const service = new PromptsTestService();
  beforeAll(() => service.start());
  afterAll(() => service.close());
  return service;
}
