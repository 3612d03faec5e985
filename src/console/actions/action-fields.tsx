/** What an action asks for beside its reason. */
import { useId, type ReactNode } from 'react';
import type { Field, Values } from './action.ts';

interface ActionFieldsProps {
  readonly fields: readonly Field[];
  readonly values: Values;
  readonly onChange: (name: string, value: string) => void;
}

export function ActionFields({ fields, values, onChange }: ActionFieldsProps): ReactNode {
  const id = useId();
  const shown = fields.filter((field) => field.shown?.(values) ?? true);
  if (shown.length === 0) return null;
  return (
    <div className="fields">
      {shown.map((field) => (
        <label key={field.name} className={field.kind}>
          {field.kind === 'check' ? (
            <>
              <input
                type="checkbox"
                checked={values[field.name] === 'yes'}
                onChange={(event) => onChange(field.name, event.target.checked ? 'yes' : '')}
              />
              <span>{field.label}</span>
            </>
          ) : (
            <>
              {/* A list inside its label would name itself by all of its entries. */}
              <span id={`${id}${field.name}`}>{field.label}</span>
              <Input
                field={field}
                labelledBy={`${id}${field.name}`}
                value={values[field.name] ?? ''}
                onChange={onChange}
              />
            </>
          )}
        </label>
      ))}
    </div>
  );
}

interface InputProps {
  readonly field: Field;
  readonly labelledBy: string;
  readonly value: string;
  readonly onChange: (name: string, value: string) => void;
}

function Input({ field, labelledBy, value, onChange }: InputProps): ReactNode {
  const { kind, name, options = [] } = field;
  if (kind !== 'select') {
    return (
      <input
        type={kind}
        aria-labelledby={labelledBy}
        value={value}
        onChange={(event) => onChange(name, event.target.value)}
      />
    );
  }
  return (
    <select
      aria-labelledby={labelledBy}
      value={value}
      onChange={(event) => onChange(name, event.target.value)}
    >
      {options.map(([each, words]) => (
        <option key={each} value={each}>
          {words}
        </option>
      ))}
    </select>
  );
}
