import type { Markup } from './markup.ts'

/** Rows of a table that were written as one text. */
export function Rows({ of }: { of: readonly Markup[] }) {
  // `markup` has escaped what it was given
  return <tbody dangerouslySetInnerHTML={{ __html: of.join('') }} />
}

/** A list whose items were written as one text. */
export function Items({ of }: { of: readonly Markup[] }) {
  // Likewise
  return <ul dangerouslySetInnerHTML={{ __html: of.join('') }} />
}
