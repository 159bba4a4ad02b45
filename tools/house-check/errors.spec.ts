import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Logger } from '@nestjs/common';
import { DomainError, ERRORS, notFound, refuseField, type ErrorCode } from '@aps/contracts';
import { errorBody, toDomainError } from '@aps/platform/http';
import { SPECIFIED_CODES } from './testing/specified-codes';

const ROOT = path.join(__dirname, '../..');
const codes = Object.keys(ERRORS) as ErrorCode[];

/** Everything that runs in production, as one text per file. */
function sources(): string[] {
  return ['libs', 'apps'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter(
        (f) =>
          f.endsWith('.ts') &&
          !f.endsWith('.spec.ts') &&
          !/(^|\/)testing\//.test(f) &&
          !f.includes('-e2e/') &&
          !f.endsWith('contracts/src/errors.ts'),
      )
      .map((f) => readFileSync(path.join(ROOT, folder, f), 'utf8')),
  );
}

describe('error codes', () => {
  it('are thrown somewhere, or are of a feature that the specification names and nobody has built yet', () => {
    const text = sources().join('\n');
    const unused = codes.filter((code) => !text.includes(`'${code}'`));
    expect(unused).toEqual(unused.filter((code) => SPECIFIED_CODES.includes(code)));
    // What is thrown by now leaves the list of what is only specified.
    expect(SPECIFIED_CODES.filter((code) => !unused.includes(code as ErrorCode))).toEqual([]);
  });

  it('travel under these statuses', () => {
    const byStatus: Record<string, string[]> = {};
    for (const code of codes) (byStatus[ERRORS[code].status] ??= []).push(code);
    expect(Object.fromEntries(Object.entries(byStatus).map(([status, list]) => [status, list.sort()]))).toMatchSnapshot();
  });

  it('are snake_case and of a client or a server error', () => {
    expect(codes.filter((code) => !/^[a-z]+(_[a-z]+)*$/.test(code) || ERRORS[code].status < 400 || ERRORS[code].status > 599)).toEqual([]);
  });
});

describe('the body of an error', () => {
  it.each(codes.map((code) => [code, ERRORS[code].status] as const))('%s (%i) has the documented shape', (code, status) => {
    const body = errorBody(new DomainError(code, 'A sentence.', { context: { fact: 1 } }), 'request-1');
    const rest = { code, request_id: 'request-1', context: { fact: 1 } };
    if (status === 422) expect(body).toEqual({ detail: [{ loc: ['body'], msg: 'A sentence.', type: `semantic.${code}` }], ...rest });
    else expect(body).toEqual({ detail: 'A sentence.', ...rest });
  });

  it('leaves out a context that is not there', () => {
    expect(errorBody(notFound('Chat'), 'r')).toEqual({ detail: 'Chat not found.', code: 'not_found', request_id: 'r' });
  });

  it('of a refused field names the field', () => {
    expect(errorBody(refuseField('model_unknown', ['arms', 0, 'model'], 'No such model.'), 'r')).toEqual({
      detail: [{ loc: ['body', 'arms', 0, 'model'], msg: 'No such model.', type: 'semantic.model_unknown' }],
      code: 'model_unknown',
      request_id: 'r',
    });
  });

  it('of a fault of ours tells nothing about the fault', () => {
    const { error, unexpected } = toDomainError(new Error('password=hunter2 at 10.0.0.7'));
    expect([unexpected, error.status, JSON.stringify(errorBody(error, 'r')).includes('hunter2')]).toEqual([true, 500, false]);
    Logger.flush();
  });
});

describe('what PostgreSQL says', () => {
  it.each([
    ['22021', 422],
    ['22P05', 422],
    ['22P02', 422],
    ['22001', 422],
    ['22003', 422],
    ['22008', 422],
    ['23505', 409],
    ['23503', 409],
    ['40001', 503],
    ['40P01', 503],
    ['55P03', 503],
    ['57014', 503],
    ['57P01', 503],
    ['53100', 503],
    ['53200', 503],
    ['53300', 503],
    ['08006', 503],
    ['42P01', 500],
    ['23514', 500],
  ])('%s becomes a %i', (code, status) => {
    const error = Object.assign(new Error('driver'), { code });
    expect(toDomainError(error).error.status).toBe(status);
    expect(toDomainError({ driverError: error }).error.status).toBe(status);
  });
});
