import { Check, Column, CreateDateColumn, Entity, Index, PrimaryColumn, Unique } from 'typeorm';

/** A request that came with an `Idempotency-Key`: being handled, or handled and answered. Kept 24 hours. */
@Entity('idempotency_keys')
@Unique('idempotency_keys_owner_key', ['owner_id', 'key'])
@Index('idempotency_keys_expires_at', ['expires_at'])
@Check('idempotency_keys_answered', '(status_code IS NULL) = (answered_at IS NULL)')
export class IdempotencyKeyEntity {
  @PrimaryColumn('uuid')
  id: string;

  /** Session or API token that sent it; keys of two never meet. */
  @Column('uuid')
  owner_id: string;

  @Column('text')
  key: string;

  /** SHA-256 of method, path and body. */
  @Column('bytea')
  request_hash: Buffer;

  /** What the first try made, for a repeat that goes on with it. */
  @Column('uuid', { nullable: true })
  resource_id: string | null;

  /** Names the try that holds the key; one that lost it can write nothing. */
  @Column('uuid')
  attempt_id: string;

  /** A try that is silent until then has died, and a repeat may begin anew. */
  @Column('timestamptz')
  locked_until: Date;

  /** Null while it is being handled. */
  @Column('smallint', { nullable: true })
  status_code: number | null;

  /** The answer's JSON text, without credentials; null for an empty answer. */
  @Column('text', { nullable: true })
  body: string | null;

  @CreateDateColumn({ type: 'timestamptz' })
  created_at: Date;

  @Column('timestamptz', { nullable: true })
  answered_at: Date | null;

  @Column('timestamptz')
  expires_at: Date;
}
