/** Characters of the name of an organization. */
export const MAX_ORG_NAME = 120;
