import { RateCards } from '@aps/billing';
import { entitle, entitleAsBefore, withRateCard } from '@aps/billing/testing';
import { outcome, sql } from '@aps/platform/testing';
import { aTeam } from '@aps/orgs/testing';
import { uuidv7 } from 'uuidv7';
import { seedInference } from '@aps/inference';
import { adminService } from './testing/admin-service';

describe('AI settings, administered', () => {
  const admin = adminService();
  const { t, call } = admin;
  const audits = (action: string) =>
    t.db.query(
      sql<{ metadata: unknown; source: string; org_id: string | null; actor_id: string }>(
        'SELECT * FROM audit_log WHERE action = $1 ORDER BY id',
      ),
      [action],
    );
  beforeAll(() => seedInference(t.db));

  describe('of the platform', () => {
    const patch = (body: unknown) => call('PATCH', '/ai-settings', body);
    const preview = async (body: unknown) => (await call('POST', '/ai-settings/preview-modes', body)).body;
    beforeEach(() => t.db.execute(sql('DELETE FROM platform_ai_settings')));

    it('are null where nobody set them, with the environment behind them', async () => {
      const { status, body } = await call('GET', '/ai-settings');
      expect(status).toBe(200);
      expect(body).toEqual({
        default_model: null,
        default_reasoning_effort: null,
        max_reasoning_effort: null,
        feature_models: {},
        thinking_enabled: null,
        compaction_enabled: null,
        compaction_threshold: null,
        mode_trivial: null,
        mode_normal: null,
        mode_high_effort: null,
        mode_x_high: null,
        effective: {
          default_model: null,
          default_reasoning_effort: null,
          max_reasoning_effort: null,
          thinking_enabled: true,
          compaction_enabled: true,
          compaction_threshold: 0.8,
        },
      });
    });

    it('change by the field, are read back, and are cleared by null', async () => {
      const first = { default_model: 'mock', feature_models: { title: 'mock', embedding: 'mock-embedding' }, compaction_threshold: 0.5 };
      const preset = { model_key: 'mock', reasoning_effort: 'low', max_output_tokens: 100, thinking_enabled: null };
      expect((await patch({ ...first, mode_trivial: { model_key: 'mock', reasoning_effort: 'low', max_output_tokens: 100 } })).status).toBe(
        200,
      );
      expect((await patch({ feature_models: { title: null }, max_reasoning_effort: 'high', thinking_enabled: false })).body).toMatchObject({
        ...first,
        feature_models: { embedding: 'mock-embedding' },
        mode_trivial: preset,
        max_reasoning_effort: 'high',
        effective: { default_model: 'mock', compaction_threshold: 0.5, thinking_enabled: false, max_reasoning_effort: 'high' },
      });
      const cleared = { default_model: null, compaction_threshold: null, mode_trivial: null, max_reasoning_effort: null };
      expect((await patch({ ...cleared, feature_models: { embedding: null } })).body).toMatchObject({ ...cleared, feature_models: {} });
    });

    it('are audited by what changes, and not where nothing does', async () => {
      const before = (await audits('platform.ai_settings_updated')).length;
      const set = {
        default_model: 'mock',
        compaction_threshold: 0.5,
        mode_normal: { model_key: 'mock' },
        feature_models: { title: 'mock' },
      };
      for (const body of [set, set, {}, { feature_models: {} }, { feature_models: { rerank: null } }, { compaction_enabled: null }])
        await patch(body);
      await preview({ mode_normal: { model_key: 'mock' } });
      const lines = (await audits('platform.ai_settings_updated')).slice(before);
      expect(lines).toMatchObject([{ source: 'admin', org_id: null, actor_id: admin.operator.id }]);
      expect(lines[0].metadata).toMatchObject({ changes: { default_model: 'mock', feature_models: { title: 'mock' } } });
    });

    it('name models that there are, of the kind that is needed', async () => {
      const refused = async (body: unknown, path = '/ai-settings', method = 'PATCH') => {
        const { status, body: { code, detail, context } } = await call(method, path, body); // prettier-ignore
        return [status, code, detail.map((d: { loc: string[] }) => d.loc.slice(1).join('.')), context.valid];
      };
      const [, , , valid] = await refused({ default_model: 'no-such' });
      expect(valid.default_model).toEqual(expect.arrayContaining(['mock', 'mock-vision']));
      expect(valid.default_model).not.toContain('mock-embedding');
      expect(await refused({ feature_models: { embedding: 'mock', title: 'mock-embedding' } })).toEqual([
        422,
        'model_unknown',
        ['feature_models.title', 'feature_models.embedding'],
        { 'feature_models.title': valid.default_model, 'feature_models.embedding': expect.arrayContaining(['mock-embedding']) },
      ]);
      for (const [method, path] of [
        ['PATCH', '/ai-settings'],
        ['POST', '/ai-settings/preview-modes'],
      ])
        // prettier-ignore
        expect((await refused({ mode_x_high: { model_key: 'no-such' } }, path, method)).slice(0, 3)).toEqual([422, 'model_unknown', ['mode_x_high.model_key']]);
      expect((await call('GET', '/ai-settings')).body).toMatchObject({ default_model: null, feature_models: {}, mode_x_high: null });
      for (const body of [
        { feature_models: { title: 5 } },
        { default_reasoning_effort: 'much' },
        { compaction_threshold: 0.05 },
        { mode_normal: {} },
      ])
        expect(outcome(await patch(body))).toEqual([422, 'validation_error']);
    });

    it('preview what modes cost, compared with the normal one that is previewed, and save nothing', async () => {
      await t.db.execute(sql(`UPDATE model_catalog SET input_price_per_1m = 1, output_price_per_1m = 2 WHERE key = 'mock'`));
      await t.db.execute(sql(`UPDATE model_catalog SET input_price_per_1m = 4, output_price_per_1m = 8 WHERE key = 'mock-vision'`));
      await patch({ mode_trivial: { model_key: 'mock' } });
      const { items, baseline } = await preview({
        mode_normal: { model_key: 'mock-vision' },
        mode_x_high: { model_key: 'mock-unpriced', reasoning_effort: 'medium' },
      });
      expect(baseline).toBe('mock-vision');
      const none = { credits_per_1k_input: null, credits_per_1k_output: null };
      expect(items).toEqual([
        { mode: 'trivial', model_key: 'mock', reasoning_effort: 'low', burn_ratio: '0.25', ...none },
        { mode: 'normal', model_key: 'mock-vision', reasoning_effort: null, burn_ratio: '1', ...none },
        { mode: 'high_effort', model_key: null, reasoning_effort: 'high', burn_ratio: null, ...none },
        { mode: 'x_high', model_key: 'mock-unpriced', reasoning_effort: 'medium', burn_ratio: null, ...none },
      ]);
      expect((await call('GET', '/ai-settings')).body).toMatchObject({ mode_normal: null, mode_x_high: null });
    });

    it('preview what modes cost in credits, by the rate card in force', async () => {
      await t.db.execute(sql(`UPDATE model_catalog SET input_price_per_1m = 1, output_price_per_1m = 2 WHERE key = 'mock'`));
      await t.db.execute(sql(`UPDATE model_catalog SET fallback_credits_per_1k_tokens = 3 WHERE key = 'mock-unpriced'`));
      await withRateCard(t, { rules: [{ match: { mode: 'high_effort' }, multiplier: '1.5' }] });
      const { items } = await preview({
        mode_normal: { model_key: 'mock' },
        mode_high_effort: { model_key: 'mock' },
        mode_x_high: { model_key: 'mock-unpriced' },
      });
      expect(items.slice(1)).toMatchObject([
        { mode: 'normal', burn_ratio: '1', credits_per_1k_input: '0.1', credits_per_1k_output: '0.2' },
        { mode: 'high_effort', burn_ratio: '1.5', credits_per_1k_input: '0.15', credits_per_1k_output: '0.3' },
        // 40,000 tokens at 3 for a thousand, beside 5.
        { mode: 'x_high', burn_ratio: '24', credits_per_1k_input: '3', credits_per_1k_output: '3' },
      ]);
      await t.db.execute(sql(`UPDATE model_catalog SET fallback_credits_per_1k_tokens = NULL WHERE key = 'mock-unpriced'`));
      await t.db.execute(sql('DELETE FROM rate_cards'));
      t.get(RateCards).drop();
    });

    it('are changed by one operator after the other', async () => {
      const features = ['title', 'compaction', 'distill', 'tool_router'];
      await Promise.all(features.map((feature) => patch({ feature_models: { [feature]: 'mock' } })));
      expect((await call('GET', '/ai-settings')).body.feature_models).toEqual(
        Object.fromEntries(features.map((feature) => [feature, 'mock'])),
      );
    });
  });

  describe('of an organization', () => {
    it('are those of its own page, which no plan keeps from operators', async () => {
      await entitle(t, { direct_model_choice: false });
      const org = await aTeam(t);
      const set = { compaction_threshold: 0.6, thinking_enabled: false };
      expect(await call('PATCH', `/orgs/${org.id}/ai-settings`, set)).toMatchObject({
        status: 200,
        body: { ...set, compaction_enabled: null },
      });
      await call('PATCH', `/orgs/${org.id}/ai-settings`, set);
      expect((await call('GET', `/orgs/${org.id}/ai-settings`)).body).toMatchObject({
        ...set,
        platform_defaults: { compaction_enabled: true },
      });
      const lines = (await audits('settings.runtime_updated')).filter((line) => line.org_id === org.id);
      expect(lines).toMatchObject([{ source: 'admin', actor_id: admin.operator.id, metadata: { changes: set } }]);
      await entitleAsBefore(t);
    });

    it('are not there for an organization that is not', async () => {
      for (const [method, body] of [
        ['GET', undefined],
        ['PATCH', { thinking_enabled: true }],
      ] as const)
        // prettier-ignore
        expect(outcome(await call(method, `/orgs/${uuidv7()}/ai-settings`, body))).toEqual([404, 'not_found']);
    });
  });
});
