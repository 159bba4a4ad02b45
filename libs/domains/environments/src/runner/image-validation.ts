import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { Environment, type ImageValidation } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { Database, NO_CALLER, OrgTable } from '@aps/platform/database';
import { PutOff } from '@aps/platform/queues';
import { Cutoff } from '@aps/platform/signals';
import { EnvironmentLog } from '../environment-log';
import { VALIDATED, VALIDATIONS_BEFORE } from '../environments.sql';
import { ImageChecks, type CheckedImage } from '../images/image-checks';
import { normalText, readReference } from '../images/image-reference.policy';
import { Sandboxes } from '../sandbox/sandboxes';

const GIB = 1024 ** 3;
/** What a validation may take in all, milliseconds: an image is pulled in it. */
const MAX_MS = 15 * 60_000;
/** Of an organization: each pulls an image. The oldest are first. */
const MAX_OF_ORGANIZATION = 2;
/** When one is tried again whose organization has as many of them. */
const BUSY_S = 2;
/** How often a validation finds out whether it is wanted still. */
const LOOK_MS = 3_000;
const TOOK_TOO_LONG: CheckedImage = {
  checks: [{ name: 'pull', ok: false, detail: `It took more than ${MAX_MS / 60_000} minutes.` }],
  ...{ digest: null, size_bytes: null, ok: false, says_nothing: true },
};

/** There is a later one, or the environment was deleted. */
class Unwanted extends Error {}

/** Looks at custom images. */
@Injectable()
export class ImageValidations {
  private readonly rows = new OrgTable(Environment, 'Environment');

  constructor(
    private readonly db: Database,
    private readonly checks: ImageChecks,
    private readonly sandboxes: Sandboxes,
    private readonly entitlements: Entitlements,
    private readonly log: EnvironmentLog,
  ) {}

  /**
   * @param probeId of this validation; a later one wins
   * @throws PutOff while its organization has as many as it may
   */
  async run(orgId: string, id: string, probeId: string, signal: AbortSignal): Promise<void> {
    const scope = OrgScope.system(orgId, 'validation of an image');
    const environment = await this.rows.find(this.db, scope, { id, probe_id: probeId });
    if (!environment) return;
    const [{ n }] = await this.db.query(VALIDATIONS_BEFORE, [orgId, probeId]);
    if (n >= MAX_OF_ORGANIZATION) throw new PutOff(BUSY_S, 'Its organization has as many running as it may');
    const { image_ref, image_digest, validation: before } = environment;
    const gib = (await this.entitlements.of(orgId)).max_custom_image_gb;
    const cut = new Cutoff(signal, MAX_MS);
    const watch = setInterval(() => void this.look(scope, id, probeId, cut), LOOK_MS).unref();
    const found = await this.checks
      .check(
        {
          reference: atDigest(image_ref!, image_digest),
          maxBytes: gib < 0 ? null : gib * GIB,
          sandbox: await this.sandboxes.driver(),
          problem: await this.sandboxes.problem(),
        },
        cut.signal,
      )
      .catch((error: unknown) => {
        if (cut.isLate) return TOOK_TOO_LONG;
        if (cut.signal.reason instanceof Unwanted) return null;
        throw error;
      })
      .finally(() => {
        clearInterval(watch);
        cut.release();
      });
    if (!found) return;
    const isKept = !!before?.is_fine && before.digest === image_digest && found.says_nothing;
    const is_fine = found.ok || isKept;
    const { digest, size_bytes } = isKept ? before : found;
    const validation: ImageValidation = {
      ...{ checks: found.checks, digest, size_bytes, is_fine },
      validated_at: this.db.now().toISOString(),
    };
    await this.db.transaction(NO_CALLER, async (tx) => {
      const state = is_fine ? 'online' : 'invalid';
      const written = await tx.query(VALIDATED, [id, probeId, state, digest, JSON.stringify(validation)]);
      if (written.length) await this.log.tell(tx, id);
    });
  }

  private async look(scope: OrgScope, id: string, probe_id: string, cut: Cutoff): Promise<void> {
    // While the database is away nobody knows.
    const wanted = await this.rows.find(this.db, scope, { id, probe_id }).catch(() => true);
    if (!wanted) cut.abort(new Unwanted());
  }
}

/** What is looked at: the digest that it was resolved to, or what is named where there is none. */
function atDigest(reference: string, digest: string | null): string {
  const read = readReference(reference);
  return digest === null || 'problem' in read ? reference : normalText({ ...read.reference, digest });
}
