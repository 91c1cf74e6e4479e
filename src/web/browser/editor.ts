import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { HighlightStyle, LanguageDescription, syntaxHighlighting } from '@codemirror/language'
import { languages } from '@codemirror/language-data'
import { Compartment, EditorState } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** As in the style sheet of code. */
const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.keyword, tags.bool, tags.null], color: 'light-dark(#a1260d, #ff938a)' },
  { tag: [tags.string, tags.regexp], color: 'light-dark(#0a5a2b, #7fd394)' },
  { tag: [tags.number, tags.meta, tags.link], color: 'light-dark(#0b4f9e, #8cc0ff)' },
  { tag: [tags.typeName, tags.className, tags.heading], color: 'light-dark(#6127a8, #cdaaff)' },
  { tag: [tags.propertyName, tags.attributeName], color: 'light-dark(#7a4400, #f0b46a)' },
])

const look = EditorView.theme({
  '&': {
    backgroundColor: 'var(--page)',
    color: 'var(--text)',
    fontSize: 'var(--code)',
    maxHeight: '70vh',
  },
  '.cm-scroller': { fontFamily: 'var(--mono)', minHeight: '20rem' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--raised)',
    color: 'var(--quiet)',
    borderColor: 'var(--line)',
  },
})

/** Puts an editor with highlighting in the place of a text area of code; the text area stays what the form sends. */
async function edit(area: HTMLTextAreaElement): Promise<void> {
  const language = new Compartment()
  // The styles of the editor lie in a shadow root: there they come as a sheet, which the policy of pages allows.
  const host = document.createElement('div')
  host.className = 'code-editor'
  const root = host.attachShadow({ mode: 'open' })
  area.before(host)
  // From outside it is no field: what is typed in it must not be taken for the keys of the page.
  host.addEventListener('keydown', (event) => {
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation()
  })
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        look,
        syntaxHighlighting(colours),
        // Escape leaves the editor: Tab indents in it.
        keymap.of([
          { key: 'Escape', run: () => leave(view) },
          indentWithTab,
          ...defaultKeymap,
          ...historyKeymap,
        ]),
        EditorView.contentAttributes.of({
          'aria-label': area.getAttribute('aria-label') ?? 'File',
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) area.value = update.state.doc.toString()
        }),
        language.of([]),
      ],
    }),
  })
  area.hidden = true
  const known = LanguageDescription.matchFilename(languages, area.dataset.filename ?? '')
  if (known) view.dispatch({ effects: language.reconfigure(await known.load()) })
}

function leave(view: EditorView): boolean {
  view.contentDOM.blur()
  return true
}

for (const area of document.querySelectorAll<HTMLTextAreaElement>('textarea[data-editor]'))
  void edit(area)
