import { isChangeOrigin } from '@tiptap/extension-collaboration'
import { isHistoryTransaction } from '@tiptap/pm/history'
import type { Plugin, Transaction } from '@tiptap/pm/state'

/**
 * Whether a transaction comes from this editor. It does not when it shows the loaded document, a change by others or an
 * undo, nor when a plugin has answered such a transaction.
 */
export function isOwnChange(transaction: Transaction): boolean {
  const root: Transaction = transaction.getMeta('appendedTransaction') ?? transaction
  return !isChangeOrigin(root) && !isHistoryTransaction(root)
}

/**
 * Lets a plugin add its changes only to changes of this editor, and returns the plugin. An answer to a change by others
 * would be given by each open editor, in the name of a person who may be reading only.
 */
export function afterOwnChanges(plugin: Plugin): Plugin {
  const { appendTransaction } = plugin.spec
  if (appendTransaction === undefined) return plugin
  plugin.spec.appendTransaction = (transactions, before, state) =>
    transactions.every(isOwnChange) ? appendTransaction.call(plugin, transactions, before, state) : null
  return plugin
}
