/** Who does something, as audit rows keep it. A `Principal` with the id of its request is one. */
export interface ActingUser {
  userId: string;
  requestId?: string;
}
