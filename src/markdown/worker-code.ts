/**
 * What the worker runs, as text: a file of its own would have to be found both among the sources and in what is built
 * of them. Raw HTML is never let through, and links lead only to known schemes. References are texts that the main
 * thread has looked up; they become links wherever they stand in plain text.
 */
export const workerCode = String.raw`
const { parentPort, workerData } = require('node:worker_threads')
const { posix } = require('node:path')
const MarkdownIt = require(workerData.library)
const { full: emoji } = require(workerData.emoji)
const footnote = require(workerData.footnote)
const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false, maxNesting: 100 })
markdown.linkify.set({ fuzzyEmail: false, fuzzyLink: false })
markdown.use(emoji, { shortcuts: {} })
markdown.use(footnote)

const schemes = new Set(['http', 'https', 'ftp', 'ftps', 'mailto', 'ssh', 'git', 'irc', 'ircs', 'tel', 'xmpp', 'sftp'])
markdown.validateLink = (url) => {
  const scheme = /^[\s\0-\x1f]*([a-z][a-z0-9+.-]*)\s*:/i.exec(url)?.[1]
  if (scheme !== undefined) return schemes.has(scheme.toLowerCase())
  return !/^[^/?#]*(:|&colon;|%3a)/i.test(url)
}

const word = /[\w/.@#!~%$-]/

function split(text, references) {
  const begins = new Set(references.map((one) => one.text[0]))
  const parts = []
  let rest = 0
  for (let at = 0; at < text.length; at++) {
    if (!begins.has(text[at]) || (at > 0 && word.test(text[at - 1]))) continue
    const found = references.find(
      (one) => text.startsWith(one.text, at) && !/\w/.test(text[at + one.text.length] ?? ''),
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

// Addresses of this server become the short form of what they lead to.
function shortened(children, at, urls) {
  const [open, text, close] = children.slice(at, at + 3)
  const known = open.info === 'auto' && close?.type === 'link_close' && urls.get(open.attrGet('href'))
  if (!known || text.type !== 'text') return
  text.content = known
  open.attrSet('class', 'gfm')
}

function inlineReferences(state, children) {
  const { references, urls } = state.env
  let inLink = 0
  return children.flatMap((token, at) => {
    if (token.type === 'link_open') {
      inLink++
      if (urls.size > 0) shortened(children, at, urls)
    }
    if (token.type === 'link_close') inLink--
    if (token.type !== 'text' || inLink > 0 || references.length === 0) return [token]
    return split(token.content, references).flatMap((part) => {
      const plain = new state.Token('text', '', 0)
      plain.content = part.shown ?? part.text
      if (!part.url) return [plain]
      const open = new state.Token('link_open', 'a', 1)
      open.attrs = [['href', part.url], ['class', 'gfm']]
      return [open, plain, new state.Token('link_close', 'a', -1)]
    })
  })
}

markdown.core.ruler.push('references', (state) => {
  if (state.env.references.length === 0 && state.env.urls.size === 0) return
  for (const block of state.tokens) {
    if (block.type === 'inline' && block.children) block.children = inlineReferences(state, block.children)
  }
})

// Links without a scheme lead into the repository or to its uploads.
function inRepository(href, place, kind) {
  if (!place || href === '' || /^(#|\/\/|[a-z][a-z0-9+.-]*:)/i.test(href)) return href
  if (/^\/uploads\/[0-9a-f]{32}\//.test(href)) return place.uploads + href
  if (place.ref === null) return href
  const mark = href.search(/[?#]/)
  const path = mark < 0 ? href : href.slice(0, mark)
  const inside = posix.normalize('/' + path)
  return place.base + '/-/' + kind + '/' + place.ref + inside + (mark < 0 ? '' : href.slice(mark))
}

function relink(tokens, place) {
  for (const token of tokens) {
    if (token.children) relink(token.children, place)
    // What the other rule made leads where it should already.
    if (token.type === 'link_open' && token.attrGet('class') !== 'gfm') {
      token.attrSet('href', inRepository(token.attrGet('href') ?? '', place, 'blob'))
    }
    if (token.type === 'image') token.attrSet('src', inRepository(token.attrGet('src') ?? '', place, 'raw'))
  }
}

markdown.core.ruler.push('relative_links', (state) => {
  if (state.env.place) relink(state.tokens, state.env.place)
})

// "- [ ] one" and "- [x] two"
markdown.core.ruler.push('tasks', (state) => {
  const { tokens } = state
  const lists = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]
    if (/^(bullet|ordered)_list_open$/.test(token.type)) lists.push(token)
    if (/^(bullet|ordered)_list_close$/.test(token.type)) lists.pop()
    const text = token.type === 'inline' && tokens[at - 2]?.type === 'list_item_open' && token.children?.[0]
    const mark = text && text.type === 'text' && /^\[([ xX])\](?:\s|$)/.exec(text.content)
    if (!mark) continue
    text.content = text.content.slice(3)
    const box = new state.Token('task_box', 'input', 0)
    box.attrs = [['type', 'checkbox'], ['class', 'task-list-item-checkbox'], ['disabled', '']]
    if (mark[1] !== ' ') box.attrs.push(['checked', ''])
    token.children.unshift(box)
    tokens[at - 2].attrSet('class', 'task-list-item')
    lists.at(-1)?.attrSet('class', 'task-list')
  }
})

// Mathematics inside a line is code between dollars: it is for a program of the reader's to set.
markdown.core.ruler.push('math', (state) => {
  for (const block of state.tokens) {
    const children = block.children ?? []
    for (let at = 1; at < children.length - 1; at++) {
      const [before, code, after] = children.slice(at - 1, at + 2)
      if (code.type !== 'code_inline' || before.type !== 'text' || after.type !== 'text') continue
      if (!before.content.endsWith('$') || !after.content.startsWith('$')) continue
      before.content = before.content.slice(0, -1)
      after.content = after.content.slice(1)
      code.attrSet('class', 'language-math')
    }
  }
})

const link = markdown.renderer.rules.link_open
markdown.renderer.rules.link_open = (tokens, at, options, env, self) => {
  const href = tokens[at].attrGet('href') ?? ''
  if (!href.startsWith(env.own) && /^([a-z][a-z0-9+.-]*:|\/\/)/i.test(href)) {
    tokens[at].attrSet('rel', 'nofollow noreferrer noopener')
    tokens[at].attrSet('target', '_blank')
  }
  return link ? link(tokens, at, options, env, self) : self.renderToken(tokens, at, options)
}

parentPort.on('message', ({ id, text, references, addresses, place, own, inline }) => {
  try {
    const env = { references, urls: new Map(addresses), place, own }
    const html = inline ? markdown.renderInline(text, env) : markdown.render(text, env)
    parentPort.postMessage(html.length > workerData.longest ? { id, error: 'too long' } : { id, html })
  } catch (error) {
    parentPort.postMessage({ id, error: String(error) })
  }
})
`
