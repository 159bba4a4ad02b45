import * as crypto from '@aps/platform/crypto';
import type { Database } from '@aps/platform/database';
import type { OrganizationDoor } from './organization-door';
import type { SessionsRepository } from './sessions.repository';
import { SessionsService } from './sessions.service';
import type { UsersRepository } from './users.repository';

jest.mock('@aps/platform/crypto', () => ({ ...jest.requireActual<typeof crypto>('@aps/platform/crypto'), verifyPassword: jest.fn(() => Promise.resolve(false)) }));

describe('SessionsService', () => {
  it('does the work of comparing a password for an address that nobody has', async () => {
    const nobody = { withHashByEmail: () => Promise.resolve(null) } as unknown as UsersRepository;
    const service = new SessionsService({} as Database, nobody, {} as SessionsRepository, {} as OrganizationDoor);
    await expect(service.login('nobody@example.com', 'guess')).rejects.toMatchObject({ code: 'invalid_credentials' });
    expect(crypto.verifyPassword).toHaveBeenCalledWith(undefined, 'guess');
  });
});
