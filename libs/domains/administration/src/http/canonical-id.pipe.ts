import { Injectable, type PipeTransform } from '@nestjs/common';

/**
 * A UUID of the path in the one form in which ids are stored and compared. Written in capitals it is the same id, but not the same
 * text: "not yourself" and locks by id would miss it.
 */
@Injectable()
export class CanonicalId implements PipeTransform<string, string> {
  transform(id: string): string {
    return id.toLowerCase();
  }
}
