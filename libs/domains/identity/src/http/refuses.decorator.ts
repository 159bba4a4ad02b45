import { ApiResponse } from '@nestjs/swagger';

/** Documents an error that an operation itself answers with, beyond those that every operation of its tier has. */
export const Refuses = (status: number, description: string) =>
  ApiResponse({ status, description, schema: { $ref: '#/components/schemas/Error' } });
