"""Sito motors on CAN."""
