/** So many characters has the name of an organization at most. */
export const MAX_ORG_NAME = 120;
