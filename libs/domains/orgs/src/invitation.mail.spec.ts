import { invitationMail } from './invitation.mail';

describe('invitationMail', () => {
  it('carries the link', () => {
    expect(invitationMail('https://app.test/invite/tok', 'Acme').text).toContain('https://app.test/invite/tok\n');
  });

  it('makes no link of a name', () => {
    const { subject, text } = invitationMail('https://app.test/invite/tok', 'Win at https://evil.test/x\r\nBcc: a@evil.test');
    expect(text.match(/https?:/g)).toHaveLength(1);
    expect(text).not.toMatch(/evil\.test|@/);
    expect(subject).not.toMatch(/[\r\n]/);
  });
});
