import { statement, type Db } from '@aps/platform/database';
import type { Product } from './objects';

const PRODUCT = statement<{ name: string; price: string | null; interval: Product['interval'] }>(`
  SELECT name, price_display::text AS price, 'month' AS interval FROM plans WHERE polar_product_id = $1
  UNION ALL SELECT name, (price_display * 12)::text, 'year' FROM plans WHERE polar_product_id_annual = $1
  UNION ALL SELECT name, price_display::text, NULL FROM credit_packs WHERE polar_product_id = $1`);

const UUID = /^[0-9a-f-]{36}$/i;

/** Sells what a plan or a pack of the service names, for the price that is shown there. */
export async function productIn(db: Db, id: string): Promise<Product | undefined> {
  const [row] = UUID.test(id) ? await db.query(PRODUCT, [id]) : [];
  return row && { ...row, id, price: Math.round(Number(row.price ?? 0) * 100) };
}
