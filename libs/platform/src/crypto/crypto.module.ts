import { Global, Module } from '@nestjs/common';
import { EnvelopeCrypto } from './envelope';

/** Gives an application that keeps secrets the means to. */
@Global()
@Module({ providers: [EnvelopeCrypto], exports: [EnvelopeCrypto] })
export class CryptoModule {}
