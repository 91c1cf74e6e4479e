import hljs from 'highlight.js'
import { workerTask } from '../base/workers/worker-task.ts'

/*
 * Runs in a worker. The library escapes the text, and puts nothing into it but `<span class="hljs-…">`.
 */

export interface HighlightJob {
  readonly text: string
  /** The name of the file, which gives the language. */
  readonly name: string
}

const namesOfFiles: Readonly<Record<string, string>> = {
  dockerfile: 'dockerfile',
  makefile: 'makefile',
  'cmakelists.txt': 'cmake',
  gemfile: 'ruby',
  rakefile: 'ruby',
  '.gitignore': 'plaintext',
  '.bashrc': 'bash',
}

/** HTML for each line of a file, with every element closed on its line; undefined for a file of no known language. */
export const highlightText = workerTask(({ text, name }: HighlightJob): string[] | undefined => {
  const base = name.split('/').at(-1)?.toLowerCase() ?? ''
  const language = namesOfFiles[base] ?? base.split('.').slice(1).at(-1)
  if (language === undefined || !hljs.getLanguage(language)) return undefined
  return linesOf(hljs.highlight(text, { language, ignoreIllegals: true }).value)
})

/** The lines of highlighted HTML: what is open at the end of a line is closed there, and opened again on the next. */
function linesOf(html: string): string[] {
  const open: string[] = []
  return html.split('\n').map((line) => {
    const before = open.join('')
    for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g)) {
      if (tag === '</span>') open.pop()
      else open.push(tag)
    }
    return before + line + '</span>'.repeat(open.length)
  })
}
