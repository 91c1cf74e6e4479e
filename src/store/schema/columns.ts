import type { ColumnType, Generated } from 'kysely'
import type { Day, Instant } from '../../base/clock.ts'

/** The integer key that SQLite gives. */
export type Id = Generated<number>

/** 0 or 1 in the table; `true` and `false` are bound as such. */
export type Flag = ColumnType<0 | 1, boolean | 0 | 1, boolean | 0 | 1>

/** A flag with a default in the table. */
export type DefaultFlag = ColumnType<0 | 1, boolean | 0 | 1 | undefined, boolean | 0 | 1>

/** A column with a default in the table. */
export type Default<T> = ColumnType<T, T | undefined, T>

/** A column that may be left out of an insert, and is then null. */
export type Optional<T> = ColumnType<T | null, T | null | undefined, T | null>

/** A flag that may be unset. */
export type OptionalFlag = ColumnType<
  0 | 1 | null,
  boolean | 0 | 1 | null | undefined,
  boolean | 0 | 1 | null
>

/** JSON text, `'{}'` unless given. */
export type Json = ColumnType<string, string | undefined, string>

export type OptionalInstant = Optional<Instant>
export type OptionalDay = Optional<Day>
