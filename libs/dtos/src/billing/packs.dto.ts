import { IntersectionType, PartialType } from '@nestjs/swagger';
import { BooleanField, DateTimeField, DecimalField, DecimalString, IntField, StringField, UuidField } from '@aps/platform/http';
import { NameField } from '../identity/names';
import { CodeField, CurrencyField } from './values';

class PackNames {
  @CodeField({ description: 'What it is bought by.', example: 'pack_5k' }) code: string;
  @NameField({ description: 'Its name.', example: '1,000 credits' }) name: string;
  @DecimalField({ positive: true, description: 'Credits that it gives.', example: '1000' }) credits: string;
}

class PackTerms {
  @DecimalField({ nullable: true, min: 0, description: 'Its price as it is shown; null shows none.', example: '12' })
  price_display: string | null;
  @CurrencyField({ default: 'USD', description: 'What the price is in.' }) price_currency: string;
  @BooleanField({ default: true, description: 'It can be bought.', example: true }) is_active: boolean;
  @IntField({ default: 0, description: 'Place in lists.', example: 10 }) sort_order: number;
  @UuidField({ nullable: true, description: 'Product of the payment provider; null: not for sale.' }) polar_product_id: string | null;
}

/** A pack as a whole: what is left out has its default. */
export class PutPackRequest extends IntersectionType(PackNames, PartialType(PackTerms, { skipNullProperties: false })) {}

export class PackProductRow {
  @UuidField({ description: 'The pack.' }) id: string;
  @StringField({ description: 'What it is bought by.', example: 'pack_1k' }) code: string;
  @StringField({ description: 'Its name.', example: '1,000 credits' }) name: string;
  @DecimalString({ description: 'Credits that it gives.', example: '1000' }) credits: string;
  @DecimalString({ nullable: true, description: 'Its price as it is shown.', example: '12' }) price_display: string | null;
  @StringField({ description: 'What the price is in, by ISO 4217.', example: 'USD' }) price_currency: string;
  @BooleanField({ description: 'It can be bought.', example: true }) is_active: boolean;
  @IntField({ description: 'Place in lists.', example: 10 }) sort_order: number;
  @UuidField({ nullable: true, description: 'Product of the payment provider; null: not for sale.' }) polar_product_id: string | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it last changed.' }) updated_at: string;
}
