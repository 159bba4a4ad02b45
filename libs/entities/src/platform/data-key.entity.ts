import { Check, Column, CreateDateColumn, Entity, Index, PrimaryColumn, Unique } from 'typeorm';

/** The key of one organization (or, with null, of the platform) that its secrets are encrypted with; itself wrapped by a master key. */
@Entity('data_keys')
@Unique('data_keys_org', ['org_id'])
@Index('data_keys_master_version', ['master_version'])
@Check('data_keys_master_version_positive', 'master_version > 0')
export class DataKeyEntity {
  /** The platform's key has a fixed id; that alone keeps it from being made twice, as a null organization is never unique. */
  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { nullable: true })
  org_id: string | null;

  /** Version of the master key that wraps it. */
  @Column('integer')
  master_version: number;

  /** 96-bit nonce, ciphertext, 128-bit tag. */
  @Column('bytea')
  wrapped_key: Buffer;

  @CreateDateColumn({ type: 'timestamptz' })
  created_at: Date;

  @Column('timestamptz', { nullable: true })
  rewrapped_at: Date | null;
}
