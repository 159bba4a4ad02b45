import { BASE_MODULES } from '@aps/testing';
import { IdentityHttpModule } from '../http/identity-http.module';
import { TestOrganizationsModule } from './test-organization-adapter';

/** Identity behind HTTP, without the domain of organizations above it. */
export const IDENTITY = [...BASE_MODULES, TestOrganizationsModule, IdentityHttpModule];
