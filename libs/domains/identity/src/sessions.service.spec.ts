import type { Audit } from '@aps/platform/audit';
import { loadConfig } from '@aps/platform/config';
import * as crypto from '@aps/platform/crypto';
import { Table, type Database } from '@aps/platform/database';
import { LoginAttemptsRepository } from './login-attempts.repository';
import type { OrganizationPort } from './organization-port';
import type { SessionsRepository } from './sessions.repository';
import { SessionsService } from './sessions.service';

jest.mock('@aps/platform/crypto', () => ({
  ...jest.requireActual<typeof crypto>('@aps/platform/crypto'),
  verifyPassword: jest.fn(() => Promise.resolve(false)),
}));

describe('SessionsService', () => {
  it('does the work of comparing a password for an address that nobody has', async () => {
    jest.spyOn(Table.prototype, 'find').mockResolvedValue(null);
    const attempts = new LoginAttemptsRepository();
    jest.spyOn(attempts, 'begin').mockResolvedValue({ refused: false, failures: 1, waitS: 1 });
    loadConfig({ DATABASE_URL: 'postgres://unused', REDIS_URL: 'redis://unused' });
    const service = new SessionsService({} as Database, {} as Audit, {} as SessionsRepository, attempts, {} as OrganizationPort);
    await expect(service.login('nobody@example.com', 'guess', { userAgent: null, ip: null })).rejects.toMatchObject({
      code: 'invalid_credentials',
    });
    expect(crypto.verifyPassword).toHaveBeenCalledWith(undefined, 'guess');
  });
});
