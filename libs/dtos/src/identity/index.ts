export * from './auth.dto';
export * from './token.dto';
export * from './waitlist.dto';
