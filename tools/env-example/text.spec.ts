import { configSection, flag, integer, setting } from '@aps/platform/config';
import { z } from 'zod';
import { envExample } from './text';

const one = configSection('one', {
  needed: setting('NEEDED', z.string(), 'What cannot be guessed'),
  token: setting('TOKEN', z.string().optional(), 'What nobody may see', { secret: true }),
  size: setting('SIZE', integer(5), 'A number'),
  on: setting('ON', flag(true), 'A switch'),
  list: setting(
    'LIST',
    z
      .string()
      .default('a,b')
      .transform((raw) => new Set(raw.split(','))),
    'Several',
  ),
});

it('shows a description and the default of each setting, and no value of a secret', () => {
  const text = envExample([one]);
  expect(text).toContain(`# ---- one ----

# What cannot be guessed (required)
NEEDED=

# What nobody may see (secret)
#TOKEN=

# A number
#SIZE=5

# A switch
#ON=on

# Several
#LIST=a,b
`);
});

it('shows a variable that two sections read once, and refuses two defaults', () => {
  const two = configSection('two', { size: setting('SIZE', integer(5), 'The same number') });
  expect(envExample([one, two]).match(/SIZE=/g)).toHaveLength(1);
  expect(envExample([one, two])).not.toContain('---- two ----');
  const three = configSection('three', { size: setting('SIZE', integer(6), 'Another number') });
  expect(() => envExample([one, three])).toThrow('SIZE has two defaults; the second is that of the section three');
});

it('refuses a secret with a default', () => {
  const four = configSection('four', { key: setting('KEY', z.string().default('secret'), 'A key', { secret: true }) });
  expect(() => envExample([four])).toThrow('KEY is a secret with a default');
});
