import type { Statement } from '@aps/platform/database';

/**
 * A statement of a spec: it is run once, so it has no name under which a connection would keep its plan, and the check of all
 * statements does not know it. What returns no row type is read as it comes.
 */
export const sql = <Row = Record<string, unknown>>(text: string): Statement<Row> => ({ name: '', text });
