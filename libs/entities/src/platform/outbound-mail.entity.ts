import { Check, Column, CreateDateColumn, Entity, Index, PrimaryColumn } from 'typeorm';

/** A mail that leaves the service, written in the transaction that causes it. */
@Entity('outbound_mails')
@Index('outbound_mails_created_at', ['created_at'])
@Index('outbound_mails_pending', ['created_at'], { where: `status = 'pending'` })
@Check('outbound_mails_status', `status IN ('pending', 'sent', 'failed')`)
@Check('outbound_mails_pending_has_body', `status <> 'pending' OR body IS NOT NULL`)
export class OutboundMailEntity {
  /** Also the id of the job that sends it, and the first half of its Message-ID. */
  @PrimaryColumn('uuid')
  id: string;

  @Column('text')
  recipient: string;

  @Column('text')
  subject: string;

  /** Ciphertext of `{text, html}`: links in it are credentials. Wiped once the mail is sent or given up. */
  @Column('text', { nullable: true })
  body: string | null;

  @Column('text', { default: 'pending' })
  status: 'pending' | 'sent' | 'failed';

  @Column('integer', { default: 0 })
  attempts: number;

  /** While in the future, a worker is sending it. */
  @Column('timestamptz', { nullable: true })
  claimed_until: Date | null;

  /** What the mail server answered last, as a code; never an address. */
  @Column('text', { nullable: true })
  last_error: string | null;

  @CreateDateColumn({ type: 'timestamptz' })
  created_at: Date;

  @Column('timestamptz', { nullable: true })
  sent_at: Date | null;
}
