import { budget } from './budget.ts'
import { MOST_CHARACTERS } from './values.ts'
import { namesIn, resolveNames, type Variables } from './variables.ts'

/** A variable before anything is put into its value. */
export interface WrittenVariable {
  readonly key: string
  readonly value: string
  /** Whether `$NAME` in the value stays as it is. */
  readonly raw: boolean
  readonly file?: boolean
}

/** A variable, and the one of the same name that it lies over. */
interface Node {
  readonly variable: WrittenVariable
  readonly below: Node | undefined
}

interface Resolved {
  readonly value: string
  /** It needs itself, or something that does. */
  readonly circular: boolean
}

type Spend = ReturnType<typeof budget>

/** By how much one value may grow; names beyond stay as they are written. */
const MOST_GROWTH = 65_536
/**
 * Variables over others, each with what it names put into its value when somebody asks for it (docs/contract/D §5.5). It may
 * name any other, wherever that is defined; its own name means the value below it. What is unknown, a file or raw stays as it
 * is written, and so does whatever needs itself in a circle.
 */
export class VariableScope implements Variables {
  readonly #under: Variables | undefined
  readonly #own = new Map<string, Node>()
  /** For all scopes of one pipeline, or one job, together. */
  readonly #spend: Spend
  /** Those that a node needs, while they are looked at; then what came of it. */
  readonly #found = new Map<Node, Resolved | readonly Node[]>()

  constructor(under: Variables | undefined, more: Iterable<WrittenVariable>) {
    this.#under = under
    this.#spend =
      under instanceof VariableScope
        ? under.#spend
        : budget({ count: Number.POSITIVE_INFINITY, characters: MOST_CHARACTERS })
    for (const variable of more) {
      this.#own.set(variable.key, { variable, below: this.#find(variable.key) })
    }
  }

  has(name: string): boolean {
    return this.#own.has(name) || this.#under?.has(name) === true
  }

  isFile(name: string): boolean {
    return this.#find(name)?.variable.file === true
  }

  /** The value as jobs find it; of a file its content. */
  get(name: string): string | undefined {
    const node = this.#find(name)
    if (!node) return undefined
    const { raw, value } = node.variable
    return raw ? value : this.#resolve(node).replaceAll('$$', () => '$')
  }

  /** The value in the form that names are still put into: by a runner, or by the pipeline that it is handed to. */
  sent(name: string): string | undefined {
    const node = this.#find(name)
    return node && (node.variable.raw ? node.variable.value : this.#resolve(node))
  }

  #find(name: string): Node | undefined {
    const own = this.#own.get(name)
    if (own || !this.#under) return own
    if (this.#under instanceof VariableScope) return this.#under.#find(name)
    const value = this.#under.get(name)
    return value === undefined
      ? undefined
      : { variable: { key: name, value, raw: true }, below: undefined }
  }

  /** What a name in the value of a variable means. */
  #meant({ variable, below }: Node, name: string): Node | undefined {
    return name === variable.key ? below : this.#find(name)
  }

  /** Those whose values must be known first. */
  #needed(node: Node): readonly Node[] {
    return [...new Set(namesIn(node.variable.value))].flatMap((name) => {
      const other = this.#meant(node, name)
      return other && !other.variable.raw && !other.variable.file ? other : []
    })
  }

  /** Goes through what a variable needs without calling itself: chains of names may be very long. */
  #resolve(root: Node): string {
    if (!/[$%]/.test(root.variable.value)) return root.variable.value
    const stack = [root]
    for (let node = stack.at(-1); node; node = stack.at(-1)) {
      const known = this.#found.get(node)
      if (!known) {
        const needed = this.#needed(node)
        this.#found.set(node, needed)
        stack.push(...needed.filter((other) => !this.#found.has(other)))
        continue
      }
      stack.pop()
      if (!('value' in known)) this.#found.set(node, this.#finish(node, known))
    }
    const resolved = this.#found.get(root)
    return resolved && 'value' in resolved ? resolved.value : root.variable.value
  }

  #finish(node: Node, needed: readonly Node[]): Resolved {
    const { value: written } = node.variable
    const found = needed.map((other) => this.#found.get(other))
    // One that is still looked at is above this one, and needs it.
    if (found.some((one) => !one || !('value' in one) || one.circular)) {
      return { value: written, circular: true }
    }
    const findValue = (name: string) => this.#put(this.#meant(node, name))
    const value = resolveNames(written, findValue, MOST_GROWTH)
    this.#spend(0, value.length)
    return { value, circular: false }
  }

  /** What stands for a variable in the value of another. */
  #put(node: Node | undefined): string | undefined {
    if (!node || node.variable.file) return undefined
    if (node.variable.raw) return node.variable.value.replaceAll('$', () => '$$')
    const found = this.#found.get(node)
    return found && 'value' in found ? found.value : undefined
  }
}

/** Puts further variables over what is known. */
export function withVariables(known: Variables, more: readonly WrittenVariable[]): Variables {
  return more.length === 0 ? known : new VariableScope(known, more)
}
