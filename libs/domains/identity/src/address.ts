import { canonicalEmail } from '@aps/platform/email';
import { In } from 'typeorm';

/** What finds the row of an address; it finds none for what is no address. */
export const ofAddress = (email: string) => ({ email_canonical: canonicalEmail(email) ?? In<string>([]) });
