export const STATUSES = ['draft', 'issued', 'paid', 'void'] as const;
export const KINDS = ['invoice', 'credit_note'] as const;
