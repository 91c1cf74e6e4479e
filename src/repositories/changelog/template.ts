import { ChangelogFailure } from './failure.ts'

/** One step of a path: `it`, a name, or an index. */
export type Step = { readonly it: true } | { readonly name: string } | { readonly index: number }

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly path: readonly Step[] }
  | {
      readonly kind: 'if'
      readonly path: readonly Step[]
      readonly yes: readonly Node[]
      readonly no: readonly Node[]
    }
  | { readonly kind: 'each'; readonly path: readonly Step[]; readonly body: readonly Node[] }

/** A parsed template. */
export type Template = readonly Node[]

const longestTemplate = 200_000
const deepestNesting = 50

const printTag = /\{\{\s*([A-Za-z0-9_.]+)\s*\}\}/y
const statementTag = /\{%\s*(?:(if|each)[ \t]+([A-Za-z0-9_.]+)|(else|end))\s*%\}\n?/y
const plainText = /[^{\\]+/y

/** A block that is still open. */
interface Open {
  readonly kind: 'if' | 'each' | 'top'
  readonly path: readonly Step[]
  /** Where nodes go now: of an `if`, first the one branch and then the other. */
  nodes: Node[]
  yes: Node[] | undefined
}

function fail(reason: string, source: string, at: number): ChangelogFailure {
  const line = source.slice(0, at).split('\n').length
  return new ChangelogFailure(`Failed to parse the template: ${reason} at line ${line}`)
}

function parsePath(text: string, source: string, at: number): Step[] {
  return text.split('.').map((step) => {
    if (step === 'it') return { it: true }
    if (/^[A-Za-z_]+$/.test(step)) return { name: step }
    if (/^\d{1,10}$/.test(step)) return { index: Number(step) }
    throw fail(`\`${step.slice(0, 50)}\` is no name or index`, source, at)
  })
}

class Parser {
  readonly #source: string
  readonly #stack: Open[] = [{ kind: 'top', path: [], nodes: [], yes: undefined }]
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  parse(): Template {
    while (this.#at < this.#source.length) this.#next()
    const open = this.#top()
    if (open.kind !== 'top') throw fail(`\`${open.kind}\` is not closed`, this.#source, this.#at)
    return open.nodes
  }

  #next(): void {
    const source = this.#source
    const here = source[this.#at]
    if (here === '\\') this.#backslash()
    else if (source.startsWith('{{', this.#at)) this.#print()
    else if (source.startsWith('{%', this.#at)) this.#statement()
    else if (here === '{') this.#text('{')
    else this.#text(this.#match(plainText)?.[0] ?? '', true)
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#source)
    if (match) this.#at = pattern.lastIndex
    return match
  }

  #top(): Open {
    const open = this.#stack.at(-1)
    if (!open) throw new Error('the outermost block is always open')
    return open
  }

  #text(text: string, consumed = false): void {
    if (!consumed) this.#at += text.length
    this.#top().nodes.push({ kind: 'text', text })
  }

  /** A backslash takes a newline after it away; before anything else it is text. */
  #backslash(): void {
    if (this.#source[this.#at + 1] === '\n') this.#at += 2
    else this.#text('\\')
  }

  #print(): void {
    const at = this.#at
    const match = this.#match(printTag)
    if (!match) throw fail('a `{{` tag takes one path', this.#source, at)
    this.#top().nodes.push({ kind: 'print', path: parsePath(match[1] ?? '', this.#source, at) })
  }

  #statement(): void {
    const at = this.#at
    const match = this.#match(statementTag)
    if (!match) throw fail('unknown statement', this.#source, at)
    const [, opening, path, closing] = match
    if (opening === 'if' || opening === 'each') {
      if (this.#stack.length > deepestNesting) throw fail('too many open blocks', this.#source, at)
      const steps = parsePath(path ?? '', this.#source, at)
      this.#stack.push({ kind: opening, path: steps, nodes: [], yes: undefined })
    } else if (closing === 'else') this.#otherwise(at)
    else this.#end(at)
  }

  #otherwise(at: number): void {
    const open = this.#top()
    if (open.kind !== 'if' || open.yes) throw fail('`else` without `if`', this.#source, at)
    open.yes = open.nodes
    open.nodes = []
  }

  #end(at: number): void {
    const open = this.#top()
    if (open.kind === 'top') throw fail('`end` without `if` or `each`', this.#source, at)
    this.#stack.pop()
    const { path, nodes, yes } = open
    this.#top().nodes.push(
      open.kind === 'each'
        ? { kind: 'each', path, body: nodes }
        : { kind: 'if', path, yes: yes ?? nodes, no: yes ? nodes : [] },
    )
  }
}

/** Parses the template language of docs/contract/B-resolved §1.8, in time linear in the source. */
export function parseTemplate(source: string): Template {
  if (source.length > longestTemplate) {
    throw new ChangelogFailure(
      `Failed to parse the template: it is longer than ${longestTemplate} characters`,
    )
  }
  return new Parser(source).parse()
}
