import { getMetadataStorage } from 'class-validator';

/**
 * Has class-validator remember which rules a class has. It looks through those of all classes for what one of them inherits, at each
 * validation, so what one request costs grew with the number of operations; see docs/adr/0006-validation-in-a-guard.md.
 *
 * To be called once, by whoever validates. A class has all its rules when it is validated for the first time: decorators run with it.
 */
export function rememberRulesByClass(): void {
  const storage = getMetadataStorage();
  const search = storage.getTargetValidationMetadatas.bind(storage);
  const found = new WeakMap<object, ReturnType<typeof search>>();
  storage.getTargetValidationMetadatas = (target, schema, always, strictGroups, groups) => {
    // Only what was asked for without groups and names of schemas, as we ask.
    if (schema || always || strictGroups || groups) return search(target, schema, always, strictGroups, groups);
    let rules = found.get(target);
    if (!rules) found.set(target, (rules = search(target, schema, always, strictGroups)));
    return rules;
  };
}
