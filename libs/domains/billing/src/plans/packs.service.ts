import { Injectable } from '@nestjs/common';
import { CreditPack } from '@aps/entities';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { changesOf, Database, Table } from '@aps/platform/database';
import { packColumns, refusingTaken, type PackInput } from './catalog.policy';

/** Packs of credits as operators make them. What was bought stays as it was bought. */
@Injectable()
export class PacksService {
  private readonly packs = new Table(CreditPack, 'Pack');

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
  ) {}

  /** @throws DomainError 409 `code_taken`, `product_taken` */
  create(operator: ActingUser, input: PackInput): Promise<CreditPack> {
    return this.db.transaction(operator, async (tx) => {
      const wish = packColumns(input);
      const pack = await refusingTaken('credit_packs', this.packs.insert(tx, wish));
      await this.audit.record(tx, operator, 'credit_pack.created', pack.id, { ...wish });
      return pack;
    });
  }

  /** @throws DomainError `not_found`; 409 `code_taken`, `product_taken` */
  replace(operator: ActingUser, id: string, input: PackInput): Promise<CreditPack> {
    return this.db.transaction(operator, async (tx) => {
      const pack = await this.packs.get(tx, id, 'for no key update');
      const changes = changesOf(pack, packColumns(input));
      if (!Object.keys(changes).length) return pack;
      const after = (await refusingTaken('credit_packs', this.packs.update(tx, id, changes)))!;
      await this.audit.record(tx, operator, 'credit_pack.updated', id, { changes });
      return after;
    });
  }

  /** @throws DomainError `not_found` */
  delete(operator: ActingUser, id: string): Promise<void> {
    return this.db.transaction(operator, async (tx) => {
      const { code } = await this.packs.get(tx, id, 'for update');
      await this.packs.delete(tx, id);
      await this.audit.record(tx, operator, 'credit_pack.deleted', id, { code });
    });
  }
}
