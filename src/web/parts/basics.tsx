import type { ComponentChildren } from 'preact'
import { withQuery } from '../address.ts'
import { useShown } from '../context.ts'
import { ClipboardCopy, RelativeTime } from './elements.ts'
import { Icon } from './icon.tsx'
import type { IconName } from './icon-names.ts'
import { A, addressIn } from './link.tsx'

/** A moment as people say it, with the exact one on hover. */
export function Time({ at, prefix = '' }: { at: string | null | undefined; prefix?: string }) {
  if (at === null || at === undefined) return null
  const exact = exactTime(at)
  return (
    <RelativeTime datetime={at} prefix={prefix} title={exact}>
      {exact}
    </RelativeTime>
  )
}

/** A moment to the minute, where there is no script to say how long ago it was. */
export function exactTime(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`
}

interface Person {
  readonly username: string
  readonly name: string
  readonly avatar_url: string | null
  readonly web_url?: string
}

/** A person's picture; without one the first letter of their name. It says nothing that the name beside it does not. */
export function Avatar({
  of,
  size = 20,
}: {
  of: Pick<Person, 'name' | 'avatar_url'>
  size?: 16 | 20 | 32 | 64
}) {
  const shown = useShown()
  if (of.avatar_url === null) {
    const hue = [...of.name].reduce((sum, sign) => (sum + (sign.codePointAt(0) ?? 0)) % 8, 0)
    return (
      <span class={`avatar size-${size} hue-${hue}`} aria-hidden={true}>
        {[...of.name][0] ?? '?'}
      </span>
    )
  }
  return (
    <img
      class={`avatar size-${size}`}
      src={addressIn(shown, of.avatar_url)}
      width={size}
      height={size}
      alt=""
      loading="lazy"
    />
  )
}

/** A person by name, with their picture, as a link to their page. */
export function PersonLink({ of }: { of: Person }) {
  return (
    <A class="person" href={`/${of.username}`} title={`@${of.username}`}>
      <Avatar of={of} size={20} /> {of.name}
    </A>
  )
}

/** `3 commits`, `1 commit`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

/** A size as people say it: `1.5 MB`. */
export function sizeText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const at = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1)
  const value = bytes / 1000 ** at
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[at]}`
}

/** What a state is, by a word and a picture; its colour says nothing that these do not. */
export function State({
  kind,
  icon,
  children,
}: {
  kind: 'open' | 'removed' | 'waiting' | 'merged' | 'plain'
  icon: IconName
  children: ComponentChildren
}) {
  return (
    <span class={`state ${kind}`}>
      <Icon name={icon} /> {children}
    </span>
  )
}

/** What a list shows when there is nothing in it, with what a person can do about that. */
export function Blank({
  icon,
  title,
  children,
}: {
  icon: IconName
  title: string
  children?: ComponentChildren
}) {
  return (
    <div class="blank">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  )
}

interface PagesProps {
  readonly page: number
  readonly perPage: number
  readonly total?: number | undefined
  readonly more?: boolean | undefined
  /** The address of the list, with its filters. */
  readonly address: string
}

/** Links to the pages of a list before and after this one. */
export function Pages({ page, perPage, total, more, address }: PagesProps) {
  const last = total === undefined ? undefined : Math.max(1, Math.ceil(total / perPage))
  const hasNext = last === undefined ? more === true : page < last
  if (page === 1 && !hasNext) return null
  const to = (number: number) => withQuery(address, { page: number })
  return (
    <nav class="pages" aria-label="Pages of this list">
      {page > 1 && (
        <A class="button" href={to(page - 1)} rel="prev" data-hotkey="[">
          <Icon name="chevron-left" /> Previous
        </A>
      )}
      <span>
        Page {page}
        {last !== undefined && ` of ${last}`}
      </span>
      {hasNext && (
        <A class="button" href={to(page + 1)} rel="next" data-hotkey="]">
          Next <Icon name="chevron-right" />
        </A>
      )}
    </nav>
  )
}

/** A text that is copied by a click. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  return (
    <ClipboardCopy
      value={text}
      class="button quiet copy"
      role="button"
      tabIndex={0}
      aria-label={label}
      title={label}
    >
      <Icon name="copy" />
    </ClipboardCopy>
  )
}
