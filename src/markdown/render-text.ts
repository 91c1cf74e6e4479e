import { posix } from 'node:path'
import MarkdownIt, { type PluginSimple, type StateCore, type Token } from 'markdown-it'
import { full as emoji } from 'markdown-it-emoji'
import footnote from 'markdown-it-footnote'
import { workerTask } from '../base/workers/worker-task.ts'
import type { LinkedText, MarkdownJob } from './job.ts'

/*
 * Runs in a worker. Raw HTML is never let through, and links lead only to known schemes. References are texts that the
 * main thread has looked up; they become links wherever they stand in plain text.
 */

interface Env {
  readonly references: readonly LinkedText[]
  /** The short forms of addresses of this server. */
  readonly urls: ReadonlyMap<string, string>
  readonly place: MarkdownJob['place']
  readonly own: string
}

const longestHtml = 8_000_000
const schemes = new Set('http https ftp ftps mailto ssh git irc ircs tel xmpp sftp'.split(' '))

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false })
// The types of the library leave this option out.
Object.assign(markdown.options, { maxNesting: 100 })
markdown.linkify.set({ fuzzyEmail: false, fuzzyLink: false })
markdown.use(emoji, { shortcuts: {} })
// Its types are of the CommonJS form of the same library.
markdown.use(footnote as unknown as PluginSimple)

markdown.validateLink = (url) => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: browsers skip them before a scheme
  const scheme = /^[\s\0-\x1f]*([a-z][a-z0-9+.-]*)\s*:/i.exec(url)?.[1]
  if (scheme !== undefined) return schemes.has(scheme.toLowerCase())
  return !/^[^/?#]*(:|&colon;|%3a)/i.test(url)
}

/** The HTML of a text; undefined when it is too long to be shown. */
export const renderText = workerTask((job: MarkdownJob): string | undefined => {
  const { text, references, addresses, place, own, inline } = job
  const env: Env = { references, urls: new Map(addresses), place, own }
  const html = inline ? markdown.renderInline(text, env) : markdown.render(text, env)
  return html.length > longestHtml ? undefined : html
})

function envOf(state: StateCore): Env {
  return state.env // given by `renderText`
}

markdown.core.ruler.push('references', (state) => {
  const { references, urls } = envOf(state)
  if (references.length === 0 && urls.size === 0) return
  for (const block of state.tokens) {
    if (block.type === 'inline' && block.children) {
      block.children = withReferences(state, block.children)
    }
  }
})

function withReferences(state: StateCore, children: readonly Token[]): Token[] {
  const { references, urls } = envOf(state)
  let inLink = 0
  return children.flatMap((token, at) => {
    if (token.type === 'link_open') {
      inLink++
      if (urls.size > 0) shortenAddress(children, at, urls)
    }
    if (token.type === 'link_close') inLink--
    if (token.type !== 'text' || inLink > 0 || references.length === 0) return [token]
    return splitAtReferences(token.content, references).flatMap((part) => tokensOf(state, part))
  })
}

function tokensOf(state: StateCore, part: Part): Token[] {
  const plain = new state.Token('text', '', 0)
  plain.content = part.shown ?? part.text
  if (part.url === undefined) return [plain]
  const open = new state.Token('link_open', 'a', 1)
  open.attrs = [
    ['href', part.url],
    ['class', 'gfm'],
  ]
  return [open, plain, new state.Token('link_close', 'a', -1)]
}

type Part = Pick<LinkedText, 'text' | 'shown'> & { readonly url?: string }

const word = /[\w/.@#!~%$-]/

function splitAtReferences(text: string, references: readonly LinkedText[]): Part[] {
  const begins = new Set(references.map((one) => one.text[0]))
  const parts: Part[] = []
  let rest = 0
  for (let at = 0; at < text.length; at++) {
    if (!begins.has(text[at]) || (at > 0 && word.test(text[at - 1] ?? ''))) continue
    const found = references.find(
      (one) => text.startsWith(one.text, at) && !goesOn(one.text, text.slice(at + one.text.length)),
    )
    if (!found) continue
    if (at > rest) parts.push({ text: text.slice(rest, at) })
    parts.push(found)
    rest = at + found.text.length
    at = rest - 1
  }
  if (rest < text.length) parts.push({ text: text.slice(rest) })
  return parts
}

/** Whether what is behind a mention makes it another one, as in `@ana-b` behind `@ana`. */
function goesOn(mention: string, rest: string): boolean {
  if (mention.startsWith('@')) return /^[.-]*\/?\w/.test(rest)
  if (/^[~%][^"]/.test(mention)) return /^[.?:&-]*[\p{L}\p{N}_]/u.test(rest)
  return /^\w/.test(rest)
}

/** Addresses of this server become the short form of what they lead to. */
function shortenAddress(children: readonly Token[], at: number, urls: Env['urls']): void {
  const [open, text, close] = children.slice(at, at + 3)
  if (open?.info !== 'auto' || close?.type !== 'link_close' || text?.type !== 'text') return
  const known = urls.get(open.attrGet('href') ?? '')
  if (known === undefined) return
  text.content = known
  open.attrSet('class', 'gfm')
}

markdown.core.ruler.push('relative_links', (state) => {
  const { place } = envOf(state)
  if (place) relink(state.tokens, place)
})

type Place = NonNullable<Env['place']>

function relink(tokens: readonly Token[], place: Place): void {
  for (const token of tokens) {
    if (token.children) relink(token.children, place)
    // What the other rule made leads where it should already.
    if (token.type === 'link_open' && token.attrGet('class') !== 'gfm') {
      token.attrSet('href', inRepository(token.attrGet('href') ?? '', place, 'blob'))
    }
    if (token.type === 'image') {
      token.attrSet('src', inRepository(token.attrGet('src') ?? '', place, 'raw'))
    }
  }
}

/** Links without a scheme lead into the repository or to its uploads. */
function inRepository(href: string, place: Place, kind: 'blob' | 'raw'): string {
  if (href === '' || /^(#|\/\/|[a-z][a-z0-9+.-]*:)/i.test(href)) return href
  if (/^\/uploads\/[0-9a-f]{32}\//.test(href)) return place.uploads + href
  if (place.ref === null) return href
  const mark = href.search(/[?#]/)
  const path = mark < 0 ? href : href.slice(0, mark)
  const inside = posix.normalize(`/${path}`)
  return `${place.base}/-/${kind}/${place.ref}${inside}${mark < 0 ? '' : href.slice(mark)}`
}

// "- [ ] one" and "- [x] two"
markdown.core.ruler.push('tasks', ({ tokens, Token }) => {
  const lists: Token[] = []
  for (const [at, token] of tokens.entries()) {
    if (/^(bullet|ordered)_list_open$/.test(token.type)) lists.push(token)
    if (/^(bullet|ordered)_list_close$/.test(token.type)) lists.pop()
    const item = tokens[at - 2]
    const text = token.children?.[0]
    if (token.type !== 'inline' || item?.type !== 'list_item_open' || text?.type !== 'text')
      continue
    const mark = /^\[([ xX])\](?:\s|$)/.exec(text.content)
    if (!mark) continue
    text.content = text.content.slice(3)
    const box = new Token('task_box', 'input', 0)
    box.attrs = [
      ['type', 'checkbox'],
      ['class', 'task-list-item-checkbox'],
      ['disabled', ''],
    ]
    if (mark[1] !== ' ') box.attrs.push(['checked', ''])
    token.children?.unshift(box)
    item.attrSet('class', 'task-list-item')
    lists.at(-1)?.attrSet('class', 'task-list')
  }
})

// Mathematics inside a line is code between dollars: it is for a program of the reader's to set.
markdown.core.ruler.push('math', (state) => {
  for (const block of state.tokens) {
    const children = block.children ?? []
    for (let at = 1; at < children.length - 1; at++) {
      const [before, code, after] = children.slice(at - 1, at + 2)
      if (code?.type !== 'code_inline' || before?.type !== 'text' || after?.type !== 'text') {
        continue
      }
      if (!before.content.endsWith('$') || !after.content.startsWith('$')) continue
      before.content = before.content.slice(0, -1)
      after.content = after.content.slice(1)
      code.attrSet('class', 'language-math')
    }
  }
})

const linkOpen = markdown.renderer.rules.link_open
markdown.renderer.rules.link_open = (tokens, at, options, env: Env, self) => {
  const href = tokens[at]?.attrGet('href') ?? ''
  if (!href.startsWith(env.own) && /^([a-z][a-z0-9+.-]*:|\/\/)/i.test(href)) {
    tokens[at]?.attrSet('rel', 'nofollow noreferrer noopener')
    tokens[at]?.attrSet('target', '_blank')
  }
  return linkOpen ? linkOpen(tokens, at, options, env, self) : self.renderToken(tokens, at, options)
}
