import { QueryRunnerAlreadyReleasedError } from 'typeorm';

/** True for a unique violation, of the named constraint or index when one is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const e = error as { code?: string; constraint?: string; driverError?: { code?: string; constraint?: string } };
  const source = e?.driverError ?? e;
  return source?.code === '23505' && (constraint === undefined || source.constraint === constraint);
}

/**
 * True when the database was away or the connection broke: nothing is wrong with what was asked, and whether a commit that was under
 * way went through is not known. A server that takes no writes, as one does that a failover has made a standby, is as good as away.
 */
export function isConnectionLoss(error: unknown): boolean {
  const e = error as { code?: string; message?: string; driverError?: { code?: string; message?: string } };
  const { code = '', message = '' } = e?.driverError ?? e ?? {};
  return (
    // TypeORM lets go of a connection that breaks, and answers whoever still holds it, a commit above all, with this.
    error instanceof QueryRunnerAlreadyReleasedError ||
    /^(08...|25006|57P0[1-5]|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|E(HOST|NET)UNREACH|ENETDOWN)$/.test(code) ||
    /Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|not queryable|Client was closed/.test(
      message,
    )
  );
}
