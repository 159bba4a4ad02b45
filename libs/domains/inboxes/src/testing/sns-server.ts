import { createSign } from 'node:crypto';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { Egress } from '@aps/platform/egress';
import { pem } from '@aps/platform/testing';

export const SNS_HOST = 'sns.eu-west-1.amazonaws.com';
export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:mail';

// A self-signed certificate for that host, good for a hundred years, and its key. They guard nothing.
const KEY = pem(
  'PRIVATE KEY',
  'MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDBVbWATT1qkm0FyBMJc0yZGYj7hqhNEXnczzYBsmqrdIc3eNH083GuiNyfIq' +
    'fdOxKCliY54R9mRKqG/WmZcaWBmnNoWXqAwcyZrbYjsWHnbaerjYcZuTgHMV4fMJh9cygaZfMBJJMz/x6iuvtJbw+zAtowfNcKzooELDZo117O' +
    'BiGg7P60X9UwAquoSrEsPQwimk++SQDU86dQshmWCnTDPvIydGJDJ3XbsbbixuCqeEjYHWI9WL3rxDVR00xvluS6xsRFlJR8YEogC9Wm+FDHSe' +
    'E2pJ9dp1A5o4eaWloRO6me1UMMK1owVGTbOH1s7yjaIdikrjl5i20oQPA8vEcdAgMBAAECggEAAPubum+/a1kcNxvPG6IGQSmpPHIbopdUpxk3' +
    'PTyiyzACofcPcNnYpEUA2MmXJd+aK/zHFqM82CBq54Mb9CeTlPxBMEYdgnsPEbbu2/FCaKfyOBk2QcdjGrJBuBHfVz/sc8SR6YRolSqWWshtj5' +
    'rXbxcJdJal4eGulO/ZRPYsqV/KAmJx348vW9D4BSn8nUgM+2DngRWT12LyoJk79tjne1QEpUa6FH7w64JNRuQD1kgEnuL8kaiTKhTthI84mtfj' +
    'SU06ktkths+aIW00zrtHq7OeL+Mr1+SqUaPZfrPwrNmRHPadbW6NgdJ6/N67mEhW7CHhBL2uQx1/bRQAjwyssQKBgQDkT67mr4z6GK7jPYrf1d' +
    'C3MvRkNy1++USsKUHfZBLs81WlGb5fDFFFaGVG7zdgrjZt5oJV4MCDMiv255w0qjZztwdML9FhelVdxg7eHtWVMeWXZ0KJybnKmVs14wH38cZf' +
    'z/qI8MSsDBUF9UQ/GwTOh+Yf1FQneNIXsyTK2AW6+QKBgQDYyB8IQ4e+ybmXZPsnUY7VseFui8hzah/sQ1WreB53HQGGf8W/K0tuulTtDNIspO' +
    'ae9Hf+KcVQ40XSd3p00vUGMRIqjAdMHf1kta3mSng5/zT9etd4RAJcif95ocCX0KQPYzvBXufxmW+KbUa+X0jVqyJgnRnoaScNjiM2Yt5yRQKB' +
    'gHvqS7FlAo0TLIildGR8diWYgFCMKiNKQ111nw0SEbuNbqSHTm3kD5AuUxmm6FWO+He5rm/R5mrOplIB7yQeZiNz6YAOTAQuE3sr7hHchmvNgy' +
    'EjqFeEp1Qw2/JpXT4neVWzWfVNSFFg1WBAeGQP1BIMbHhGE87Aora+Qm/dw25xAoGAQtfyOaoZAUtSXsxUZRtQ37Opv1x6wpvGnCNnFyhCvJfF' +
    'EKP1Za0D5XCvHykE5Z8zPXBET6qxnO93aB5PNBaYVwBqiZQD7ASTTap3pLrxt3Bp9n8aUYsm70Hd9LNbn3RGIjiHBGkvO+AD9LsdRTY8TyYlw4' +
    'StqGxEDnn1gZ+a18ECgYAgt0+JdAC/9xOH0y8XbJcnqfmo8SDps7lJY9hvPWBVnJto2CKllmEsMVY7TPuJmWOspZfU4Qui++/rMRSWi5naIdie' +
    'eL3J2Z+JLhT5Z5eGLbVm7gXJuYCR3AREC+PXHvAM/c8mYVQ7/B1oIhulv71NJDTgHyklThNX70VWiUfsqQ==',
);
const CERTIFICATE = pem(
  'CERTIFICATE',
  'MIIDVzCCAj+gAwIBAgIUFTDz5/oJ31rri1TjteMCeO8QTqUwDQYJKoZIhvcNAQELBQAwJjEkMCIGA1UEAwwbc25zLmV1LXdlc3QtMS5hbWF6b2' +
    '5hd3MuY29tMCAXDTI2MTEyNDIzNDUwN1oYDzIxMjYxMDMxMjM0NTA3WjAmMSQwIgYDVQQDDBtzbnMuZXUtd2VzdC0xLmFtYXpvbmF3cy5jb20w' +
    'ggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQDBVbWATT1qkm0FyBMJc0yZGYj7hqhNEXnczzYBsmqrdIc3eNH083GuiNyfIqfdOxKCli' +
    'Y54R9mRKqG/WmZcaWBmnNoWXqAwcyZrbYjsWHnbaerjYcZuTgHMV4fMJh9cygaZfMBJJMz/x6iuvtJbw+zAtowfNcKzooELDZo117OBiGg7P60' +
    'X9UwAquoSrEsPQwimk++SQDU86dQshmWCnTDPvIydGJDJ3XbsbbixuCqeEjYHWI9WL3rxDVR00xvluS6xsRFlJR8YEogC9Wm+FDHSeE2pJ9dp1' +
    'A5o4eaWloRO6me1UMMK1owVGTbOH1s7yjaIdikrjl5i20oQPA8vEcdAgMBAAGjezB5MB0GA1UdDgQWBBSRqzs9TOHeWr8bOm61/epztXGELzAf' +
    'BgNVHSMEGDAWgBSRqzs9TOHeWr8bOm61/epztXGELzAPBgNVHRMBAf8EBTADAQH/MCYGA1UdEQQfMB2CG3Nucy5ldS13ZXN0LTEuYW1hem9uYX' +
    'dzLmNvbTANBgkqhkiG9w0BAQsFAAOCAQEAvb3FGGaBmhglLQzLPnvMK5RHptz/ugZFgR1jg63vBmypjBRp6FUllpu8vxB84H0uNZA8YWeWSboq' +
    'TsT3hm4kCLAFrPMZGbJ6zzahC9bbSIUu/hCfhebA2/xDIUxmCbv7G+b450nM1a6KSGWHBrCVOnXsWSYAWOUFMjoCNaiTLH5P5llKgI506xy42p' +
    'fXJf4TeZnlhyX7HCwV3Jz+fjsqNDtmD4ib8vOa37tH2LxiNytMoJ9ssB0m96GvilVeLl3L6C6T1fhxJOxFh+sg0xXXnHyvDWRpxNzXRCW6r3ty' +
    'cBjzuRWwV1FHOuaTv2xnmvBLaHLZhwm/HJjl3AaMZlLNkQ==',
);

/** What Amazon SNS posts, signed by its certificate. */
export function snsEnvelope(fields: Record<string, string>, version: '1' | '2' = '2'): string {
  const envelope: Record<string, string> = {
    ...{ Type: 'Notification', MessageId: 'm-1', TopicArn: TOPIC, Timestamp: '2026-11-20T12:00:00.000Z', SignatureVersion: version },
    SigningCertURL: `https://${SNS_HOST}/SimpleNotificationService-1.pem`,
    ...fields,
  };
  const text = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
    .filter((name) => envelope[name] !== undefined)
    .map((name) => `${name}\n${envelope[name]}\n`)
    .join('');
  const Signature = createSign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256')
    .update(text)
    .sign(KEY, 'base64');
  return JSON.stringify({ Signature, ...envelope });
}

/** A server that stands in for Amazon SNS, and a way out that reaches it under its name. */
export class SnsServer {
  readonly asked: string[] = [];
  status = 200;
  private readonly server = https.createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    this.asked.push(request.url ?? '');
    response.writeHead(this.status).end(CERTIFICATE);
  });

  readonly egress = new Egress({
    ca: CERTIFICATE,
    resolve: () => Promise.resolve(['93.184.216.34']),
    // Stands in for the public internet: the socket says that it arrived where it was sent.
    dial: (address) =>
      Object.defineProperty(net.connect((this.server.address() as AddressInfo).port, '127.0.0.1'), 'remoteAddress', { get: () => address }),
  });

  async listen(): Promise<void> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
