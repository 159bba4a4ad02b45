import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readDataset, source } from './dataset';

/**
 * `model-prices`          writes the price list of models anew from the dataset at MODEL_PRICE_DATASET_URL
 * `model-prices <file>`   the same from a file that was fetched before
 */
async function main(): Promise<void> {
  const [file] = process.argv.slice(2);
  const prices = await readDataset(file);
  writeFileSync(path.resolve('libs/domains/inference/src/governance/model-prices.data.ts'), source(prices));
  process.stdout.write(`wrote the prices of ${Object.keys(prices).length} models\n`);
}

main().catch((error: Error) => {
  process.stderr.write(`model-prices: ${error.message}\n`);
  process.exitCode = 1;
});
