/**
 * What the worker runs, as text: a file of its own would have to be found both among the sources and in what is built
 * of them. Raw HTML is never let through, and links lead only where the library lets them. References are texts that the
 * main thread has looked up; they become links wherever they stand in plain text.
 */
export const workerCode = `
const { parentPort, workerData } = require('node:worker_threads')
const MarkdownIt = require(workerData.library)
const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false, maxNesting: 100 })
markdown.linkify.set({ fuzzyEmail: false, fuzzyLink: false })

const word = /[\\w/.@#!-]/

function split(text, references) {
  const begins = new Set(references.map((one) => one.text[0]))
  const parts = []
  let rest = 0
  for (let at = 0; at < text.length; at++) {
    if (!begins.has(text[at]) || (at > 0 && word.test(text[at - 1]))) continue
    const found = references.find(
      (one) => text.startsWith(one.text, at) && !/\\w/.test(text[at + one.text.length] ?? ''),
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

markdown.core.ruler.push('references', (state) => {
  const references = state.env.references
  if (references.length === 0) return
  for (const block of state.tokens) {
    if (block.type !== 'inline' || !block.children) continue
    let inLink = 0
    block.children = block.children.flatMap((token) => {
      if (token.type === 'link_open') inLink++
      if (token.type === 'link_close') inLink--
      if (token.type !== 'text' || inLink > 0) return [token]
      return split(token.content, references).flatMap((part) => {
        const plain = new state.Token('text', '', 0)
        plain.content = part.text
        if (!part.url) return [plain]
        const open = new state.Token('link_open', 'a', 1)
        open.attrs = [['href', part.url], ['class', 'gfm']]
        return [open, plain, new state.Token('link_close', 'a', -1)]
      })
    })
  }
})

const link = markdown.renderer.rules.link_open
markdown.renderer.rules.link_open = (tokens, at, options, env, self) => {
  const href = tokens[at].attrGet('href') ?? ''
  if (!href.startsWith(env.own) && /^[a-z]+:/i.test(href)) {
    tokens[at].attrSet('rel', 'nofollow noreferrer noopener')
    tokens[at].attrSet('target', '_blank')
  }
  return link ? link(tokens, at, options, env, self) : self.renderToken(tokens, at, options)
}

parentPort.on('message', ({ id, text, references, own }) => {
  try {
    parentPort.postMessage({ id, html: markdown.render(text, { references, own }) })
  } catch (error) {
    parentPort.postMessage({ id, error: String(error) })
  }
})
`
