import type { ComponentChildren } from 'preact'
import { type Shown, useShown } from '../context.ts'

/** What any element may carry. */
export interface Attributes {
  readonly class?: string
  readonly id?: string
  readonly title?: string | undefined
  readonly hidden?: boolean
  readonly [name: `data-${string}` | `aria-${string}`]: string | number | boolean | undefined
}

interface LinkProps extends Attributes {
  readonly href: string
  readonly children?: ComponentChildren
  readonly rel?: string
  readonly role?: 'tab' | 'button' | 'menuitem' | 'option'
  readonly download?: string
}

/** An address of ours, or one that the API gave, as it stands in a page: below the path of the external URL, on this very host. */
export function addressIn({ basePath, externalUrl }: Shown, href: string): string {
  if (href.startsWith(`${externalUrl}/`)) return basePath + href.slice(externalUrl.length)
  if (href === externalUrl) return `${basePath}/`
  return href.startsWith('/') && !href.startsWith('//') ? basePath + href : href
}

/** A link. Its address is a path of ours, an address that the API gave, or one of another server by http, https or mailto. */
export function A({ href, children, ...more }: LinkProps) {
  const shown = useShown()
  const address = addressIn(shown, href)
  const isSafe = /^(?:\/|\?|#|https?:|mailto:)/i.test(address)
  const isForeign = /^https?:/i.test(address)
  return (
    <a
      {...(isForeign ? { rel: 'noopener noreferrer' } : {})}
      {...more}
      href={isSafe ? address : '#'}
    >
      {children}
    </a>
  )
}
