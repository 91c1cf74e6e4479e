import { withQuery } from '../address.ts'
import { A } from '../parts/link.tsx'

interface ChoicesProps {
  readonly label: string
  readonly address: string
  /** The parameter of the query that the choice sets; others are in `address`. */
  readonly name: string
  readonly options: readonly (readonly [value: string, label: string])[]
  readonly current: string
}

/** Tabs of a list, each with an address of its own. */
export function Choices({ label, address, name, options, current }: ChoicesProps) {
  return (
    <nav class="tabs" aria-label={label}>
      {options.map(([value, text]) => (
        <A
          key={value}
          href={withQuery(address, { [name]: value })}
          {...(value === current ? { 'aria-current': 'page' } : {})}
        >
          {text}
        </A>
      ))}
    </nav>
  )
}
