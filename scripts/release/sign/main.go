// Signs a macOS executable ad hoc, as `codesign --sign -` does, on any platform: sign FILE IDENTIFIER
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"github.com/blacktop/go-macho"
	"github.com/blacktop/go-macho/pkg/codesign"
	"github.com/blacktop/go-macho/pkg/codesign/types"
)

const headerBytes = 32

// signed returns the executable with its signature. The library's own export leaves out what is between segments.
func signed(name, identifier string) ([]byte, error) {
	original, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	file, err := macho.NewFile(bytes.NewReader(original))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := file.CodeSign(&codesign.Config{ID: identifier, Flags: types.ADHOC}); err != nil {
		return nil, err
	}
	var exported bytes.Buffer
	if err := file.SaveBuffer(&exported); err != nil {
		return nil, err
	}
	last := file.Segment("__LINKEDIT")
	if last == nil || last.Offset > uint64(len(original)) || last.Filesz > uint64(exported.Len()) {
		return nil, errors.New("the segment __LINKEDIT is not at the end of the file")
	}
	result := bytes.Clone(original[:last.Offset])
	copy(result, exported.Bytes()[:headerBytes+file.SizeCommands])
	return append(result, exported.Bytes()[uint64(exported.Len())-last.Filesz:]...), nil
}

// check compares the hash of each page with the signature, as the kernel does before it runs a page.
func check(content []byte) error {
	file, err := macho.NewFile(bytes.NewReader(content))
	if err != nil {
		return err
	}
	defer file.Close()
	signature := file.CodeSignature()
	if signature == nil || len(signature.CodeDirectories) == 0 {
		return errors.New("the signature is missing")
	}
	directory := signature.CodeDirectories[0]
	page, end := uint64(1)<<directory.Header.PageSize, uint64(directory.Header.CodeLimit)
	if end != uint64(signature.Offset) || uint64(len(directory.CodeSlots)) != (end+page-1)/page {
		return errors.New("the signature does not cover the file")
	}
	for index, slot := range directory.CodeSlots {
		from := uint64(index) * page
		hash := sha256.Sum256(content[from:min(from+page, end)])
		if !bytes.Equal(hash[:], slot.Hash) {
			return fmt.Errorf("the hash of page %d is not that of the signature", index)
		}
	}
	return nil
}

func run(name, identifier string) error {
	content, err := signed(name, identifier)
	if err != nil {
		return err
	}
	if err := check(content); err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o755)
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sign FILE IDENTIFIER")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "sign: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
